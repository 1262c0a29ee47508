//! The part of an earlier run of the same study: what is unchanged since then is not replayed again.
//!
//! A cache is a folder with a part for each study. A row counts only for the same transcript with the same bytes. A file that is cut off,
//! damaged, of another study or of another program counts as none, and the run writes it anew.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use super::{Given, Part, PartError, Place, Row};
use crate::analysis::ReplayOutcomes;
use crate::analysis::corpus::{Became, Done, Monitor, Outcomes, Source};
use crate::analysis::resume::{Checkpoint, EarlierResults};
use crate::analysis::study::TranscriptResult;
use crate::results::saved::StudyRecord;
use crate::transcript::source::hash_of;
use crate::util::spill::Spill;

/// The most that the files of a cache have together, in bytes. Those that were not used for the longest time go.
const MAX_BYTES: u64 = 1 << 30;
/// The most that one file has.
const MAX_FILE: u64 = MAX_BYTES / 4;

/// The end of the names of these files: no other file in the folder is touched.
const SUFFIX: &str = ".recompact-part";

/// The part of an earlier run, if there is one.
#[derive(Debug)]
pub struct CachedPart {
    file: PathBuf,
    study: StudyRecord,
    /// By name. A row is taken once.
    rows: Mutex<HashMap<String, Done<Checkpoint<Given>>>>,
    /// Number of the rows that were taken.
    taken: AtomicUsize,
}

impl CachedPart {
    /// Opens the part of a study in the folder of a cache. `about` says what else the rows depend on: the program's file, the folder in
    /// which it runs, the paths of the transcripts.
    pub fn open(folder: &Path, study: &StudyRecord, about: &str) -> Self {
        let of = serde_json::to_string(&(&study.spec, &study.files, about)).expect("plain data with text keys");
        let file = folder.join(hash_of(of.as_bytes()) + SUFFIX);
        let unreadable = |why: &PartError| log::info!("does not use {}: {why}", file.display());
        let part = File::open(&file).ok().and_then(|from| Part::read(from, &Spill::default()).inspect_err(unreadable).ok());
        let part = part.filter(|part| part.must_be_of(study).is_ok());
        if let Some(part) = &part {
            log::info!("takes what did not change of {} transcripts from {}", part.rows(), file.display());
            mark_as_used(&file);
        }
        let done = |(place, became): (Place, Row)| match became {
            Became::Done(done) => Some((place.transcript, done)),
            Became::LeftOut(_) => None,
        };
        let rows = part.into_iter().flat_map(|part| part.rows).filter_map(done).collect();
        Self { file, study: study.clone(), rows: Mutex::new(rows), taken: AtomicUsize::new(0) }
    }

    /// Takes the row of a transcript, if there is one for the same bytes.
    pub(in crate::analysis) fn take_row<T>(
        &self,
        source: Source,
        made: impl Fn(Given) -> Result<T, PartError>,
    ) -> Option<Done<Checkpoint<T>>> {
        let Done { result, skipped_lines } = self.rows.lock().ok()?.remove(source.name)?;
        let result = Some(result).filter(|row| row.hash == source.hash())?.try_map(made).ok()?;
        self.taken.fetch_add(1, Ordering::Relaxed);
        Some(Done { result, skipped_lines })
    }

    /// Writes the part of this run, unless the run was stopped or all its results were taken from here. Returns the results.
    pub(in crate::analysis) fn keep_rows<T>(
        &self,
        outcomes: Outcomes<Checkpoint<T>>,
        monitor: &dyn Monitor,
        given: impl Fn(T) -> Given,
        made: impl Fn(Given) -> Result<T, PartError>,
    ) -> Outcomes<Checkpoint<T>> {
        if outcomes.is_stopped || outcomes.results().count() == self.taken.load(Ordering::Relaxed) {
            return outcomes;
        }
        let part = Part::new(self.study.clone(), outcomes, given).expect("the run was not stopped");
        if let Err(error) = self.write(&part) {
            monitor.note(&format!("the results of this run cannot be kept for the next one: {error} (--no-cache keeps none)"));
        }
        part.outcomes(&made).expect("the rows are of this run")
    }

    /// Writes a part, and removes what is too much in the folder.
    fn write(&self, part: &Part) -> io::Result<()> {
        let folder = self.file.parent().expect("the file is in a folder");
        create_private(folder)?;
        // Another run never sees a file that is not whole.
        let mut file = tempfile::Builder::new().suffix(SUFFIX).tempfile_in(folder)?;
        let mut to = BufWriter::new(Bounded { to: &mut file, left: MAX_FILE });
        part.write(&mut to)?;
        to.flush()?;
        drop(to);
        file.persist(&self.file)?;
        trim(folder, MAX_BYTES)
    }
}

impl EarlierResults for CachedPart {
    fn take(&self, source: Source) -> Option<Done<Checkpoint<TranscriptResult>>> {
        self.take_row(source, Given::into_replay)
    }

    fn keep(&self, outcomes: ReplayOutcomes, monitor: &dyn Monitor) -> ReplayOutcomes {
        self.keep_rows(outcomes, monitor, Given::of_replay, Given::into_replay)
    }
}

/// Writes at most a number of bytes.
struct Bounded<W> {
    to: W,
    left: u64,
}

impl<W: Write> Write for Bounded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.left = self.left.checked_sub(written as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Creates a folder that only its owner can read: the rows quote transcripts.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Without the right to do so, the file goes earlier than others.
fn mark_as_used(file: &Path) {
    let _ = File::options().append(true).open(file).and_then(|file| file.set_modified(SystemTime::now()));
}

/// Removes the files that were not used for the longest time, until those that are left have at most this many bytes.
fn trim(folder: &Path, most: u64) -> io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().ends_with(SUFFIX)
            && let Ok(metadata) = entry.metadata()
        {
            files.push((metadata.modified()?, metadata.len(), entry.path()));
        }
    }
    files.sort_by(|one, other| other.cmp(one));
    let mut bytes = 0;
    for (_, length, path) in files {
        bytes += length;
        if bytes > most {
            // Another run may have removed it.
            let _ = fs::remove_file(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_files_that_were_used_first_go() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(if name == "other" { name.to_owned() } else { name.to_owned() + SUFFIX });
        let names = || {
            let names = ["a", "b", "c", "d", "other"];
            names.into_iter().filter(|name| path(name).exists()).collect::<String>()
        };
        for (age, name) in ["c", "a", "d", "b", "other"].into_iter().enumerate() {
            fs::write(path(name), [0; 10]).expect("a file");
            let file = File::options().append(true).open(path(name)).expect("a file");
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age as u64)).expect("a time");
        }
        for (most, left) in [(40, "abcdother"), (39, "acdother"), (20, "acother"), (9, "other")] {
            trim(folder.path(), most).expect("the folder");
            assert_eq!(names(), left);
        }
    }
}
