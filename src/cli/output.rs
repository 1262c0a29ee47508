//! Writes results to standard output, or atomically to a file, and messages to standard error.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, ErrorKind, IntoInnerError, IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use recompact::report::escape;
use recompact::util::waiting;
use tempfile::{Builder, NamedTempFile, PersistError};

use super::{captured, interrupt};

/// Longest chain of links that is followed, as on Linux.
const MAX_LINKS: usize = 40;

/// Why results could not be written. Paths are as the user gave them.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("standard output: {0}")]
    Stdout(io::Error),
    #[error("{0}: the folder {1} does not exist")]
    NoFolder(PathBuf, PathBuf),
    #[error("{0}: is a folder; name a file in it")]
    IsFolder(PathBuf),
    #[error("{0}: the file is write-protected")]
    Protected(PathBuf),
    #[error("{0}: exists already, and is not replaced; name another file")]
    Exists(PathBuf),
    #[error("{0}: cannot be written: {1}")]
    Unwritable(PathBuf, io::Error),
}

/// Writes all bytes to a file, or to standard output if no file is given. A closed pipe (`| head`) is not an error.
pub fn write(out: Option<&Path>, bytes: &[u8]) -> Result<(), OutputError> {
    match out {
        Some(path) => {
            let mut draft = Draft::begin(path)?;
            draft.write(bytes)?;
            draft.finish()?;
            say_written(path, bytes.len());
            Ok(())
        }
        None => write_to(&mut captured::Stdout, bytes).map_err(OutputError::Stdout),
    }
}

/// Writes what `content` writes, which need not fit in memory, to a file or to standard output.
///
/// # Errors
///
/// Fails like [`write`](fn@write).
pub fn write_by(out: Option<&Path>, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
    let Some(path) = out else {
        let mut to = BufWriter::new(captured::Stdout);
        return unless_closed(content(&mut to).and_then(|()| to.flush())).map_err(OutputError::Stdout);
    };
    let mut draft = Draft::begin(path)?;
    content(&mut draft.to).map_err(|error| OutputError::Unwritable(path.to_owned(), error))?;
    draft.finish()?;
    say_written(path, fs::metadata(path).map_or(0, |metadata| metadata.len()) as usize);
    Ok(())
}

/// Writes all bytes to a new file.
///
/// # Errors
///
/// Fails like [`write`](fn@write), and if there is a file already.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    let mut draft = Draft::begin(path)?;
    if fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return Err(OutputError::Exists(path.to_owned()));
    }
    draft.write(bytes)?;
    draft.finish_new()
}

/// Creates a file that is written to as a run goes on, so that a run that ends early leaves what it has. Only its owner can read it.
///
/// # Errors
///
/// Fails like [`write_new`].
#[cfg(feature = "models")]
pub fn open_new(path: &Path) -> Result<File, OutputError> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => OutputError::Exists(path.to_owned()),
        ErrorKind::NotFound => OutputError::NoFolder(path.to_owned(), folder_of(path).to_owned()),
        _ => OutputError::Unwritable(path.to_owned(), error),
    })
}

/// Writes a line to standard error. A failure is ignored, because there is no other place to report it.
pub fn say(line: &str) {
    let _ = writeln!(captured::Stderr, "{line}");
}

/// Says to a person at a terminal what was written; a script knows it.
fn say_written(path: &Path, bytes: usize) {
    if !captured::is_captured() && io::stderr().is_terminal() {
        say(&format!("{}: {bytes} bytes were written", escape::terminal(&path.display().to_string())));
    }
}

fn write_to(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    unless_closed(to.write_all(bytes).and_then(|()| to.flush()))
}

/// A closed pipe is not an error.
fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Prints the help, the version, or what is wrong with the command line, as clap does, and returns the exit code.
pub fn explain(error: &clap::Error) -> u8 {
    // A failure is ignored, because there is no other place to report it.
    let _ = match (captured::is_captured(), error.use_stderr()) {
        (false, _) => error.print(),
        (true, false) => write!(captured::Stdout, "{}", error.render()),
        (true, true) => write!(captured::Stderr, "{}", error.render()),
    };
    u8::try_from(error.exit_code()).unwrap_or(u8::MAX)
}

/// The temporary files of this process, which a second Ctrl-C removes.
static DRAFTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn drafts() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files, because the program ends without finishing them.
pub fn remove_drafts() {
    for path in &*drafts() {
        let _ = fs::remove_file(path);
    }
}

/// A file that is written to a temporary name in the same folder and renamed when it is complete.
pub struct Draft {
    /// The path as given.
    path: PathBuf,
    to: BufWriter<DraftTarget>,
    /// Number of bytes so far.
    length: u64,
}

enum DraftTarget {
    /// The temporary file, its final path, and the permissions of the file it replaces.
    Temporary(NamedTempFile, PathBuf, Option<Permissions>),
    /// Not a regular file, like /dev/null or a named pipe: written to, not replaced.
    Device(File),
}

impl Draft {
    pub fn begin(path: &Path) -> Result<Self, OutputError> {
        let unwritable = |error| OutputError::Unwritable(path.to_owned(), error);
        let given = path;
        let path = &*without_dangling_links(path);
        let to = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => return Err(OutputError::IsFolder(path.to_owned())),
            // A rename would replace a read-only file without an error, against its owner's wish.
            Ok(metadata) if metadata.permissions().readonly() => return Err(OutputError::Protected(path.to_owned())),
            Ok(metadata) if !metadata.is_file() => open_device(path.to_owned()).map(DraftTarget::Device),
            // A link's target is replaced, not the link.
            Ok(metadata) => fs::canonicalize(path).and_then(|target| temporary_file(target, Some(metadata.permissions()))),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let folder = folder_of(path);
                if !folder.is_dir() {
                    return Err(OutputError::NoFolder(path.to_owned(), folder.to_owned()));
                }
                temporary_file(path.to_owned(), None)
            }
            Err(error) => Err(error),
        };
        Ok(Self { path: given.to_owned(), to: BufWriter::new(to.map_err(unwritable)?), length: 0 })
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), OutputError> {
        self.length += bytes.len() as u64;
        self.to.write_all(bytes).map_err(|error| OutputError::Unwritable(self.path.clone(), error))
    }

    /// Number of bytes that were written, for [`Self::cut`].
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Removes what follows the first bytes again. What a device got stays.
    pub fn cut(&mut self, length: u64) -> Result<(), OutputError> {
        let cut = self.to.flush().and_then(|()| match self.to.get_mut() {
            DraftTarget::Temporary(file, ..) => {
                file.as_file().set_len(length)?;
                file.seek(SeekFrom::Start(length)).map(|_| self.length = length)
            }
            DraftTarget::Device(_) => Ok(()),
        });
        cut.map_err(|error| OutputError::Unwritable(self.path.clone(), error))
    }

    pub fn finish(self) -> Result<(), OutputError> {
        let finished = self.to.into_inner().map_err(IntoInnerError::into_error).and_then(|to| to.finish(NamedTempFile::persist));
        finished.map_err(|error| OutputError::Unwritable(self.path, error))
    }

    /// Like [`Self::finish`], but replaces no file, even if one was written in the meantime.
    fn finish_new(self) -> Result<(), OutputError> {
        let finish = |to: DraftTarget| to.finish(NamedTempFile::persist_noclobber);
        let finished = self.to.into_inner().map_err(IntoInnerError::into_error).and_then(finish);
        finished.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => OutputError::Exists(self.path),
            _ => OutputError::Unwritable(self.path, error),
        })
    }
}

/// Opens a pipe or a device. A pipe without a reader waits for one until the run is stopped.
fn open_device(path: PathBuf) -> io::Result<File> {
    let opened = waiting::unless_stopped(move || File::options().write(true).open(path), &interrupt::requested);
    opened.unwrap_or_else(|| Err(io::Error::other("stopped while it waited for a reader")))
}

fn temporary_file(target: PathBuf, old: Option<Permissions>) -> io::Result<DraftTarget> {
    let mut builder = Builder::new();
    builder.prefix(".recompact-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // minus the umask, as for any new file
    let file = builder.tempfile_in(folder_of(&target))?;
    drafts().insert(file.path().to_owned());
    Ok(DraftTarget::Temporary(file, target, old))
}

impl Write for DraftTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            DraftTarget::Temporary(file, ..) => file.write(bytes),
            // A closed pipe is not an error.
            DraftTarget::Device(device) => match device.write(bytes) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
                written => written,
            },
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl DraftTarget {
    /// Gives the temporary file its name by `persist`.
    fn finish(self, persist: fn(NamedTempFile, PathBuf) -> Result<File, PersistError>) -> io::Result<()> {
        let DraftTarget::Temporary(file, target, old) = self else { return Ok(()) };
        if let Some(old) = old {
            file.as_file().set_permissions(old)?;
        }
        file.as_file().sync_all()?;
        let draft = file.path().to_owned();
        persist(file, target)?;
        drafts().remove(&draft);
        Ok(())
    }
}

/// Follows links whose target does not exist: the target is then created, as a shell's `>` does.
pub fn without_dangling_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) if fs::metadata(&path).is_err() => path = folder_of(&path).join(target),
            _ => break,
        }
    }
    path
}

/// The folder of a path; a bare name is in the current folder.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(path: &Path) -> String {
        write(Some(path), b"new").expect_err("not writable").to_string()
    }

    #[test]
    fn output_file_is_created_and_replaced_without_leftovers() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("results.json");
        for bytes in [&b"first, and longer"[..], b"second"] {
            write(Some(&path), bytes).expect("a folder to write to");
            assert_eq!(fs::read(&path).expect("it was written"), bytes);
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn output_errors_name_the_path_and_leave_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (place, absent) = (folder.path().display(), folder.path().join("no/results.json"));
        assert_eq!(error(&absent), format!("{place}/no/results.json: the folder {place}/no does not exist"));
        assert_eq!(error(folder.path()), format!("{place}: is a folder; name a file in it"));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn new_file_never_replaces_another() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("policy.toml");
        write_new(&path, b"first").expect("a folder to write to");
        let error = write_new(&path, b"second").expect_err("it exists").to_string();
        assert_eq!(error, format!("{}: exists already, and is not replaced; name another file", path.display()));
        let mut late = Draft::begin(&folder.path().join("late.toml")).expect("a folder to write to");
        late.write(b"second").expect("memory");
        fs::write(folder.path().join("late.toml"), "first").expect("a folder to write to");
        assert!(matches!(late.finish_new(), Err(OutputError::Exists(_))));
        assert_eq!(fs::read(&path).expect("still there"), b"first");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "no draft is left");
    }

    #[test]
    fn write_protected_output_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("results.json");
        fs::write(&path, "old").expect("a folder to write to");
        let mut permissions = fs::metadata(&path).expect("it was written").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).expect("our own file");
        assert!(error(&path).ends_with("the file is write-protected"));
        assert_eq!(fs::read(&path).expect("still there"), b"old");
    }

    #[cfg(unix)]
    #[test]
    fn output_keeps_permissions_and_links() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (file, link) = (folder.path().join("kept.json"), folder.path().join("link.json"));
        fs::write(&file, "old").expect("a folder to write to");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("our own file");
        symlink("kept.json", &link).expect("a link");
        write(Some(&link), b"new").expect("a file behind the link");
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
        assert_eq!(fs::read(&file).expect("the file"), b"new");
        assert_eq!(fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o640);
        write(Some(Path::new("/dev/null")), b"gone").expect("a device is written to");

        let dangling = folder.path().join("dangling.json");
        symlink("later.json", &dangling).expect("a link");
        write(Some(&dangling), b"new").expect("a folder to write to");
        assert!(fs::symlink_metadata(&dangling).expect("a link").is_symlink(), "a link without a target stays a link too");
        assert_eq!(fs::read(folder.path().join("later.json")).expect("its target"), b"new");
    }

    #[test]
    fn closed_pipe_is_not_an_error() {
        struct Closed(ErrorKind);
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        assert!(write_to(&mut Closed(ErrorKind::BrokenPipe), b"much").is_ok());
        assert!(write_to(&mut Closed(ErrorKind::StorageFull), b"much").is_err());
    }
}
