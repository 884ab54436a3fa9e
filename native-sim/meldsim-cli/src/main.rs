//! The program `meldsim`.

use std::process::ExitCode;

fn main() -> ExitCode {
    meldsim_cli::main()
}
