//! Every chore of the project.
fn main() {}
