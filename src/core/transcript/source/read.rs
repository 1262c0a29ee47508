//! Reads files whole, up to a limit. Compressed ones (gzip or Zstandard, detected by name or by first bytes) are decompressed.

use std::fs::{self, File};
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::stored::DATABASE;
use super::zstd::Frames;
use super::{Held, Input, SourceError, SourceErrorKind, unreadable};
use crate::text::inflate::inflate;
use crate::transcript::format;

/// Default limit of the size of a transcript in bytes, decompressed: a few kilobytes of gzip can expand beyond any memory.
pub const MAX_BYTES: u64 = 1 << 30;

/// Limit of the size of policies, prices, suites and baselines in bytes. The largest price table of today has 2 MB.
const MAX_SETTINGS_BYTES: u64 = 16 << 20;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstandard,
}

impl Compression {
    const ALL: [Self; 2] = [Self::Gzip, Self::Zstandard];

    /// Returns the compression of a file with this name and these first bytes.
    fn of(name: &str, head: &[u8]) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let by_head = Self::ALL.into_iter().find(|compression| head.starts_with(compression.first_bytes()));
        by_head.or_else(|| Self::ALL.into_iter().find(|compression| name.ends_with(compression.ending())))
    }

    /// The first bytes of gzip (RFC 1952, 2.3.1) and of a frame of Zstandard (RFC 8878, 3.1.1).
    fn first_bytes(self) -> &'static [u8] {
        match self {
            Self::Gzip => &[0x1f, 0x8b],
            Self::Zstandard => &[0x28, 0xb5, 0x2f, 0xfd],
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Gzip => ".gz",
            Self::Zstandard => ".zst",
        }
    }

    /// Appends what can be decompressed, at most `limit` bytes. What came before an error stays in `bytes`.
    fn decompress(self, reader: impl Read, limit: u64, bytes: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Self::Gzip => MultiGzDecoder::new(reader).take(limit).read_to_end(bytes),
            Self::Zstandard => Frames::new(reader).take(limit).read_to_end(bytes),
        }
    }
}

/// How many first bytes tell the compression, or that it is a database.
const HEAD_BYTES: u64 = DATABASE.len() as u64;

/// First bytes of a database that no reader takes: they hold the names of its first tables, which say what it is.
const DATABASE_BYTES: u64 = 256 << 10;

/// The content of a transcript.
#[derive(Debug, PartialEq, Eq)]
pub struct Content {
    pub bytes: Vec<u8>,
    /// Why the rest of a compressed file could not be decompressed.
    pub cut_off: Option<String>,
}

/// Reads the bytes of a transcript, decompressed; fails if it has more than `limit`.
pub fn read(input: &Input, limit: u64) -> Result<Content, SourceError> {
    match &input.held {
        Some(Held::BuiltIn(deflated)) => return Ok(Content { bytes: inflate(deflated), cut_off: None }),
        Some(Held::Given(bytes)) => return read_within(&input.name, &**bytes, bytes.len() as u64, limit),
        None => {}
    }
    if let Some(session) = &input.session {
        let store = format::by_name(session.format).and_then(|format| format.store.as_ref()).expect("a format with a store");
        let bytes =
            (store.read)(&input.path, &session.id, limit).map_err(|error| SourceErrorKind::Store(error).at(&input.name))?;
        let too_large = bytes.len() as u64 > limit;
        let content = Content { bytes, cut_off: None };
        return if too_large { Err(SourceErrorKind::TooLarge(limit, "").at(&input.name)) } else { Ok(content) };
    }
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

/// Returns the first bytes of a transcript, decompressed, at most `limit`; `None` if they cannot be read now, or only once.
pub fn read_head(input: &Input, limit: u64) -> Option<Vec<u8>> {
    if input.held.is_some() {
        return read(input, MAX_BYTES).ok().map(|content| content.bytes);
    }
    if input.may_wait() {
        return None;
    }
    let mut file = File::open(&input.path).ok()?;
    let (mut first, mut bytes) = (Vec::new(), Vec::new());
    file.by_ref().take(HEAD_BYTES).read_to_end(&mut first).ok()?;
    let compression = Compression::of(&input.name, &first);
    let whole = Cursor::new(first).chain(file);
    match compression {
        // What was decompressed before an error is enough to recognise the format.
        Some(compression) => drop(compression.decompress(whole, limit, &mut bytes)),
        None => drop(whole.take(limit).read_to_end(&mut bytes)),
    }
    Some(bytes)
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
    reader.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(error)?;
    let compression = Compression::of(name, &head);
    let too_large = || SourceErrorKind::TooLarge(limit, if compression.is_some() { " when decompressed" } else { "" }).at(name);
    let whole = Cursor::new(head.clone()).chain(reader);
    let (mut bytes, mut cut_off) = (Vec::new(), None);
    // One byte over the limit is enough to detect a larger file.
    let read_limit = limit.saturating_add(1);
    if let Some(compression) = compression {
        match compression.decompress(whole, read_limit, &mut bytes) {
            Err(error) if bytes.is_empty() => return Err(SourceErrorKind::Damaged(error, compression.ending()).at(name)),
            Err(error) => {
                cut_off = Some(format!("the compressed file is cut off or damaged ({error}); what comes before was read"))
            }
            Ok(_) => {}
        }
    } else if head == DATABASE {
        whole.take(DATABASE_BYTES.min(limit)).read_to_end(&mut bytes).map_err(error)?;
    } else if size > limit {
        return Err(too_large());
    } else {
        bytes.reserve(usize::try_from(size).unwrap_or(0));
        whole.take(read_limit).read_to_end(&mut bytes).map_err(error)?;
    }
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(Content { bytes, cut_off }) }
}
