//! The program: runs the command line, and returns its exit code.

use std::process::ExitCode;

/// That of musl is slow where many small values come and go on several threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(recompact::cli::run(std::env::args_os()))
}
