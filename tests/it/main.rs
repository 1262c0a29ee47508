//! One test binary.

mod messages_files;
mod reports;
