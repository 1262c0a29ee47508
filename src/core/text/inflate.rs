//! Inflates data that the program holds in a smaller form.

use std::io::Read;

use flate2::read::DeflateDecoder;

/// Returns deflated bytes as they were before.
///
/// # Panics
///
/// Panics if they are not whole: they are a part of the program, so that is a defect of the program.
pub fn inflate(deflated: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    DeflateDecoder::new(deflated).read_to_end(&mut bytes).expect("the program's own data can be inflated");
    bytes
}
