//! Reads saved results, for `report` and `--resume`.

use std::path::Path;

use recompact::results::saved::Results;

use recompact::transcript::source::{self, MAX_BYTES};

/// Reads the results in a file, which may be compressed. Errors do not name the file.
pub fn load(path: &Path) -> Result<Results, String> {
    let (inputs, errors) = source::find(Path::new(""), &[path.to_owned()]);
    if let Some(error) = errors.first() {
        return Err(error.reason());
    }
    let [input] = &inputs[..] else { return Err("name one file of saved results".to_owned()) };
    let content = source::read(input, MAX_BYTES).map_err(|error| error.reason())?;
    if let Some(why) = content.cut_off {
        return Err(why);
    }
    let text = String::from_utf8(content.bytes).map_err(|_| "not UTF-8 text".to_owned())?;
    Results::from_json(&text).map_err(|error| error.to_string())
}
