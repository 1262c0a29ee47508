//! One test binary.
mod claude_code_files;
