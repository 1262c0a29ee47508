//! `--materialize DIR`: writes the files that policies would write, below DIR and nowhere else.
//!
//! Paths come from policies and from ids in transcripts, and both may be hostile ([`NewFolder`]).

use std::path::{Path, PathBuf};

use recompact::engine::journal::File;
use recompact::engine::layer::FileKind;
use recompact::engine::policy::Policy;
use recompact::engine::replay::Observer;
use recompact::transcript::conversation::Conversation;

use crate::cli::error::Failure;
use crate::cli::new_folder::{NewFolder, path_part};

pub struct Materialize {
    path: PathBuf,
    folder: NewFolder,
    failed: Option<String>,
}

impl Materialize {
    /// Opens the folder, which must be empty.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        Ok(Self { path: path.to_owned(), folder: NewFolder::create("--materialize", path)?, failed: None })
    }

    pub fn writer<'a>(&'a mut self, transcript: &str, conversation: &Conversation, policy: &Policy) -> FileWriter<'a> {
        let below = [&policy.name, transcript, &conversation.name].map(path_part).iter().collect();
        FileWriter { files: self, below }
    }

    pub fn finish(self) -> Result<(), Failure> {
        match self.failed {
            Some(message) => Err(Failure::Usage(format!("--materialize {}: {message}", self.path.display()))),
            None => Ok(()),
        }
    }
}

/// Writes the files of one conversation under one policy.
pub struct FileWriter<'a> {
    files: &'a mut Materialize,
    below: PathBuf,
}

impl Observer for FileWriter<'_> {
    fn file(&mut self, file: &File, text: &str) {
        // As the harnesses do, a result that is already on disk is not written again.
        if self.files.failed.is_some() || (file.kind == FileKind::Persisted && file.again) {
            return;
        }
        let path: PathBuf =
            self.below.join(file.path.split(['/', '\\']).filter(|p| !p.is_empty()).map(path_part).collect::<PathBuf>());
        let path = self.files.folder.unique(path);
        if let Err(error) = self.files.folder.write(&path, text) {
            self.files.failed = Some(format!("{}: {error}", path.display()));
        }
    }

    fn wants_archives(&self) -> bool {
        true
    }
}
