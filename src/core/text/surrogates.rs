//! Lone surrogates, and the characters that stand for them.
//!
//! JSON may contain half of a surrogate pair (`"\ud83d"`), and Python and JavaScript keep it. A Rust string cannot, so readers
//! replace it by a *stand-in*: the private-use character U+10D800 + (surrogate − U+D800). Meters count a stand-in as the surrogate
//! that it replaces, and writers turn it back into its escape, so the text of a conversation does not change. If a transcript
//! really used these 2,048 private-use characters (plane 16), they would be taken for surrogates; no such transcript has been seen.

const FIRST_STAND_IN: u32 = 0x10_D800;
const FIRST_SURROGATE: u32 = 0xD800;
const SURROGATES: u32 = 0x800;

/// Returns the stand-in for a lone surrogate; `None` if `unit` is not a surrogate.
pub fn stand_in(unit: u16) -> Option<char> {
    let offset = u32::from(unit).checked_sub(FIRST_SURROGATE).filter(|o| *o < SURROGATES)?;
    char::from_u32(FIRST_STAND_IN + offset)
}

/// Returns the lone surrogate that a character replaces; `None` if the character is not a stand-in.
pub fn lone_surrogate(c: char) -> Option<u16> {
    let offset = u32::from(c).checked_sub(FIRST_STAND_IN).filter(|o| *o < SURROGATES)?;
    u16::try_from(FIRST_SURROGATE + offset).ok()
}

/// Returns whether a text contains stand-ins. They all begin with the byte F4, which is rare, so this runs at memory speed.
pub fn has_stand_ins(text: &str) -> bool {
    memchr::memchr(0xF4, text.as_bytes()).is_some() && text.chars().any(|c| lone_surrogate(c).is_some())
}

/// Replaces every stand-in in a JSON text by the escape that it came from (`\ud83d`).
pub fn restore_escapes(json: String) -> String {
    if !has_stand_ins(&json) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match lone_surrogate(c) {
            Some(unit) => out.push_str(&format!("\\u{unit:04x}")),
            None => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_in_maps_back_to_its_surrogate() {
        for unit in [0xD800, 0xD83D, 0xDFFF] {
            assert_eq!(stand_in(unit).and_then(lone_surrogate), Some(unit));
        }
        assert_eq!(stand_in(0xE000), None);
        assert_eq!(lone_surrogate('😀'), None);
    }

    #[test]
    fn restore_escapes_writes_surrogate_escapes() {
        let held = format!("{{\"a\":\"x{}y\"}}", stand_in(0xDC00).expect("a surrogate"));
        assert_eq!(restore_escapes(held), r#"{"a":"x\udc00y"}"#);
    }
}
