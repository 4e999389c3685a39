//! The `pumice` command.
fn main() {}
