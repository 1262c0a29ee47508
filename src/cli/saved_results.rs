//! Reads saved results, for `report` and `--resume`, and other texts that a user names.

use std::path::Path;

use recompact::results::saved::Results;

use recompact::transcript::source::{self, MAX_BYTES};

/// Reads the results in a file, which may be compressed. Errors do not name the file.
pub fn load(path: &Path) -> Result<Results, String> {
    Results::from_json(&text(path, "saved results")?).map_err(|error| error.to_string())
}

/// Reads the text of a file, which may be compressed, or of standard input. `what` is for the error. Errors do not name the file.
pub fn text(path: &Path, what: &str) -> Result<String, String> {
    let (inputs, errors) = source::find(Path::new(""), &[path.to_owned()]);
    if let Some(error) = errors.first() {
        return Err(error.reason());
    }
    let [input] = &inputs[..] else { return Err(format!("name one file of {what}")) };
    let content = source::read(input, MAX_BYTES).map_err(|error| error.reason())?;
    if let Some(why) = content.cut_off {
        return Err(why);
    }
    String::from_utf8(content.bytes).map_err(|_| "not UTF-8 text".to_owned())
}
