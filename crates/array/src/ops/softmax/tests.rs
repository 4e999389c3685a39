//! Softmax and logsumexp on both devices.
