//! What the fuzz targets share. Each target is one function from bytes to nothing: it panics if a law is broken.

pub mod mutate;
pub mod targets;

/// Runs a target, with mutations that know lines, JSON and settings; one in four is libFuzzer's own, which knows bytes.
#[macro_export]
macro_rules! fuzz {
    ($target:ident) => {
        libfuzzer_sys::fuzz_target!(|data: &[u8]| $crate::targets::$target::run(data));

        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            if seed % 4 == 0 {
                return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
            }
            let mutated = $crate::mutate::mutate(&data[..size], seed.into());
            let length = mutated.len().min(max_size);
            data[..length].copy_from_slice(&mutated[..length]);
            length
        });
    };
}
