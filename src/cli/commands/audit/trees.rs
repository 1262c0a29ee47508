//! The folders that an audit searches for files named by transcripts, and which transcript belongs to which folder.

use std::fs;
use std::path::{Path, PathBuf};

use recompact::analysis::audit::Tree;
use recompact::results::saved::ResultNote;

use super::folder::Folder;
use crate::cli::error::Failure;
use recompact::transcript::source;

/// The archive folder of learn-claude-code; files that its transcripts name are beside it.
const ARCHIVES: &str = ".transcripts";

pub struct AuditFolders {
    folders: Vec<Folder>,
    /// Whether `--root` names one folder for all transcripts.
    is_root: bool,
}

impl AuditFolders {
    /// Lists the folder given with `--root`, else the folders that follow from the paths of the transcripts.
    pub fn list(root: Option<&Path>, paths: &[PathBuf]) -> Result<Self, Failure> {
        if let Some(root) = root {
            let failed = |error| Failure::Usage(format!("--root {}: {error}", root.display()));
            return Ok(Self { folders: vec![Folder::list(root).map_err(failed)?], is_root: true });
        }
        if paths.iter().any(|path| source::is_stdin(path)) {
            let message = "standard input has no folder to search for the files it names; name one with --root DIR";
            return Err(Failure::Usage(message.to_owned()));
        }
        let mut roots: Vec<(PathBuf, PathBuf)> = Vec::new();
        for root in source::expand_patterns(paths).iter().map(|path| root_of(path)) {
            // A path that cannot be resolved is reported when it is read.
            let Ok(canonical) = fs::canonicalize(&root) else { continue };
            if !roots.iter().any(|(known, _)| *known == canonical) {
                roots.push((canonical, root));
            }
        }
        let folders = roots.iter().filter_map(|(_, root)| Folder::list(root).ok()).collect();
        Ok(Self { folders, is_root: false })
    }

    pub fn folders(&self) -> impl Iterator<Item = &dyn Tree> {
        self.folders.iter().map(|folder| folder as &dyn Tree)
    }

    /// Returns the index of the innermost folder that contains a transcript.
    pub fn index_of(&self, transcript: &str) -> usize {
        if self.is_root {
            return 0;
        }
        let within = |(_, folder): &(usize, &Folder)| transcript.starts_with(folder.prefix());
        let innermost = self.folders.iter().enumerate().filter(within).max_by_key(|(_, folder)| folder.prefix().len());
        innermost.map_or(0, |(index, _)| index)
    }

    pub fn notes(&self) -> Vec<ResultNote> {
        let mut notes: Vec<ResultNote> = self.folders.iter().flat_map(|folder| folder.notes.clone()).collect();
        notes.sort_by(|a, b| (&a.path, &a.what).cmp(&(&b.path, &b.what)));
        notes.dedup();
        notes
    }

    /// Rejects an output file that the audit has listed: an audit must not change what it reads.
    pub fn must_not_hold(&self, out: Option<&Path>) -> Result<(), Failure> {
        let Some(out) = out else { return Ok(()) };
        let Ok(canonical) = fs::canonicalize(out) else { return Ok(()) };
        let canonical = canonical.to_string_lossy().replace('\\', "/");
        let holds = |folder: &Folder| {
            let below = canonical.strip_prefix(folder.place()).map(|below| below.trim_start_matches('/'));
            below.is_some_and(|below| folder.entries().iter().any(|entry| entry.name == below))
        };
        if self.folders.iter().any(holds) {
            Err(Failure::Usage(format!("{}: is audited, so it cannot be written too; name another file", out.display())))
        } else {
            Ok(())
        }
    }
}

/// Returns the folder whose files the transcripts of a path may name.
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
