//! The simulator from a shell.

fn main() {}
