//! The folders in which what transcripts name is looked for, and which transcript belongs to which.

use std::fs;
use std::path::{Path, PathBuf};

use recompact::analysis::audit::Tree;
use recompact::results::saved::ResultNote;

use super::folder::Folder;
use crate::cli::error::Failure;
use crate::cli::source;

/// Where learn-claude-code archives: what transcripts name lies beside it.
const ARCHIVES: &str = ".transcripts";

pub struct Trees {
    folders: Vec<Folder>,
    /// The folder that was named for all.
    one: bool,
}

impl Trees {
    /// Lists the folder that was named, or those that follow from the paths of the transcripts.
    pub fn list(root: Option<&Path>, paths: &[PathBuf]) -> Result<Self, Failure> {
        if let Some(root) = root {
            let failed = |error| Failure::Usage(format!("--root {}: {error}", root.display()));
            return Ok(Self { folders: vec![Folder::list(root).map_err(failed)?], one: true });
        }
        if paths.iter().any(|path| source::is_stdin(path)) {
            let what = "standard input lies in no folder in which what it names could be looked for; say which with --root DIR";
            return Err(Failure::Usage(what.to_owned()));
        }
        let mut roots: Vec<(PathBuf, PathBuf)> = Vec::new();
        for root in source::matches(paths).iter().map(|path| root_of(path)) {
            // What leads nowhere is told when it is read.
            let Ok(place) = fs::canonicalize(&root) else { continue };
            if !roots.iter().any(|(known, _)| *known == place) {
                roots.push((place, root));
            }
        }
        let folders = roots.iter().filter_map(|(_, root)| Folder::list(root).ok()).collect();
        Ok(Self { folders, one: false })
    }

    pub fn folders(&self) -> impl Iterator<Item = &dyn Tree> {
        self.folders.iter().map(|folder| folder as &dyn Tree)
    }

    /// The index of the folder that a transcript belongs to: of those that it is in the innermost.
    pub fn of(&self, transcript: &str) -> usize {
        if self.one {
            return 0;
        }
        let within = |(_, folder): &(usize, &Folder)| transcript.starts_with(folder.prefix());
        let innermost = self.folders.iter().enumerate().filter(within).max_by_key(|(_, folder)| folder.prefix().len());
        innermost.map_or(0, |(at, _)| at)
    }

    pub fn notes(&self) -> Vec<ResultNote> {
        let mut notes: Vec<ResultNote> = self.folders.iter().flat_map(|folder| folder.notes.clone()).collect();
        notes.sort_by(|a, b| (&a.path, &a.what).cmp(&(&b.path, &b.what)));
        notes.dedup();
        notes
    }

    /// An audit changes nothing in what it looks at: a report that goes there could be a file that was just listed.
    pub fn must_not_hold(&self, out: Option<&Path>) -> Result<(), Failure> {
        let Some(out) = out else { return Ok(()) };
        let Ok(place) = fs::canonicalize(out) else { return Ok(()) };
        let place = place.to_string_lossy().replace('\\', "/");
        let holds = |folder: &Folder| {
            let below = place.strip_prefix(folder.place()).map(|below| below.trim_start_matches('/'));
            below.is_some_and(|below| folder.entries().iter().any(|entry| entry.name == below))
        };
        match self.folders.iter().any(holds) {
            true => Err(Failure::Usage(format!("{}: is audited, so it cannot be written too; name another file", out.display()))),
            false => Ok(()),
        }
    }
}

/// The folder whose files a path's transcripts may name.
fn root_of(path: &Path) -> PathBuf {
    let folder = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => path,
        _ => parent(path),
    };
    if folder.file_name().is_some_and(|name| name == ARCHIVES) { parent(folder).to_owned() } else { folder.to_owned() }
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
