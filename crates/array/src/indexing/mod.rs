//! Index expressions as NumPy has them, from an index tuple to ops: for reading, assignment and `at` updates.
