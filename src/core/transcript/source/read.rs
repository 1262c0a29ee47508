//! Reads files whole, up to a limit. Compressed ones (gzip, detected by name or by first bytes) are decompressed.

use std::fs::{self, File};
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::{Input, SourceError, SourceErrorKind, unreadable};

/// Default limit of the size of a transcript in bytes, decompressed: a few kilobytes of gzip can expand beyond any memory.
pub const MAX_BYTES: u64 = 1 << 30;

/// Limit of the size of policies, prices, suites and baselines in bytes. The largest price table of today has 2 MB.
const MAX_SETTINGS_BYTES: u64 = 16 << 20;

/// The first bytes of gzip (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The content of a transcript.
#[derive(Debug, PartialEq, Eq)]
pub struct Content {
    pub bytes: Vec<u8>,
    /// Why the rest of a compressed file could not be decompressed.
    pub cut_off: Option<String>,
}

/// Reads the bytes of a transcript, decompressed; fails if it has more than `limit`.
pub fn read(input: &Input, limit: u64) -> Result<Content, SourceError> {
    if input.is_stdin() {
        return read_within(&input.name, io::stdin().lock(), 0, limit);
    }
    let unreadable = |error| unreadable(input.name.clone(), error);
    let metadata = fs::metadata(&input.path).map_err(unreadable)?;
    if is_device(&metadata) {
        return Err(SourceErrorKind::Device.at(&input.name));
    }
    read_within(&input.name, File::open(&input.path).map_err(unreadable)?, metadata.len(), limit)
}

/// Reads a file that a user writes: a policy, a list of prices, a suite. Fails if it is larger than any of these can be.
pub fn read_settings(path: &Path) -> io::Result<String> {
    if is_device(&fs::metadata(path)?) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "a device, not a file"));
    }
    let mut text = String::new();
    File::open(path)?.take(MAX_SETTINGS_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_SETTINGS_BYTES {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("larger than {} MiB", MAX_SETTINGS_BYTES >> 20)));
    }
    Ok(text)
}

/// Whether it is a device such as `/dev/zero`, which may never end. Pipes are read: a shell makes them for `-p <(…)`.
#[cfg(unix)]
fn is_device(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_char_device() || metadata.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &fs::Metadata) -> bool {
    false
}

/// Reads a whole reader of about `size` bytes.
pub(super) fn read_within(name: &str, mut reader: impl Read, size: u64, limit: u64) -> Result<Content, SourceError> {
    let error = |error| unreadable(name.to_owned(), error);
    let mut head = Vec::new();
    reader.by_ref().take(GZIP.len() as u64).read_to_end(&mut head).map_err(error)?;
    let is_gzip = head == GZIP || name.to_ascii_lowercase().ends_with(".gz");
    let too_large = || SourceErrorKind::TooLarge(limit, if is_gzip { " when decompressed" } else { "" }).at(name);
    let whole = Cursor::new(head).chain(reader);
    let (mut bytes, mut cut_off) = (Vec::new(), None);
    // One byte over the limit is enough to detect a larger file.
    let read_limit = limit.saturating_add(1);
    if is_gzip {
        // What was decompressed before an error stays in `bytes`.
        match MultiGzDecoder::new(whole).take(read_limit).read_to_end(&mut bytes) {
            Err(error) if bytes.is_empty() => return Err(SourceErrorKind::NotGzip(error).at(name)),
            Err(error) => {
                cut_off = Some(format!("the compressed file is cut off or damaged ({error}); what comes before was read"))
            }
            Ok(_) => {}
        }
    } else if size > limit {
        return Err(too_large());
    } else {
        bytes.reserve(usize::try_from(size).unwrap_or(0));
        whole.take(read_limit).read_to_end(&mut bytes).map_err(error)?;
    }
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(Content { bytes, cut_off }) }
}
