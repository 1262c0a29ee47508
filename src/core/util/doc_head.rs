//! Puts the documentation that a source file begins with into the program, without the rest of the file.

/// The `//!` lines that a source file begins with, as a constant text. The path is relative to the file that names it.
macro_rules! doc_head {
    ($path:expr) => {{
        const SOURCE: &str = include_str!($path);
        const HEAD: [u8; $crate::util::doc_head::len(SOURCE)] = $crate::util::doc_head::copy(SOURCE);
        $crate::util::doc_head::text(&HEAD)
    }};
}
pub(crate) use doc_head;

/// Returns the bytes of the `//!` lines that a source begins with.
pub const fn len(source: &str) -> usize {
    let mut rest = source.as_bytes();
    while let Some((b"//!", _)) = rest.split_first_chunk::<3>() {
        while let [byte, after @ ..] = rest {
            rest = after;
            if *byte == b'\n' {
                break;
            }
        }
    }
    source.len() - rest.len()
}

/// Copies the first `LEN` bytes of a source. A part of a constant that is not copied keeps the whole constant in the program.
pub const fn copy<const LEN: usize>(source: &str) -> [u8; LEN] {
    *source.as_bytes().first_chunk().expect("the source is longer than its head")
}

/// Returns copied lines as a text.
pub const fn text(head: &'static [u8]) -> &'static str {
    match str::from_utf8(head) {
        Ok(text) => text,
        Err(_) => panic!("a line ends between characters"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_ends_before_the_first_other_line() {
        const SOURCE: &str = "//! é\n//!\n\nuse a;\n//! b\n";
        const HEAD: [u8; len(SOURCE)] = copy(SOURCE);
        assert_eq!(text(&HEAD), "//! é\n//!\n");
        assert_eq!([len(""), len("use a;"), len("//! a"), len("//! a\n"), len("// a\n//! b\n")], [0, 0, 5, 6, 0]);
        assert!(doc_head!("doc_head.rs").ends_with("without the rest of the file.\n"));
    }
}
