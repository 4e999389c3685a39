//! Block programs: element-wise functions on the CPU, a block of elements at a time.
