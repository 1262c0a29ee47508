//! `--contexts FILE`: the exact request of every call, one JSON object a line.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use recompact::context::Context;
use recompact::conversation::Conversation;
use recompact::journal::Request;
use recompact::policy::Policy;
use recompact::replay::Observer;
use recompact::text::restore_escapes;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::Failure;

/// The file, and the first thing that went wrong with it. It takes its name when it is whole.
pub struct Contexts {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
    failed: Option<io::Error>,
}

impl Contexts {
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = NamedTempFile::new_in(folder).map_err(|error| unwritable(path, &error))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), failed: None })
    }

    pub fn of<'a>(&'a mut self, transcript: &'a str, conversation: &'a Conversation, policy: &'a Policy) -> Requests<'a> {
        Requests { contexts: self, transcript, conversation: &conversation.name, policy: &policy.name }
    }

    pub fn finish(self) -> Result<(), Failure> {
        let path = self.path;
        if let Some(error) = self.failed {
            return Err(unwritable(&path, &error));
        }
        let file = self.file.into_inner().map_err(|error| unwritable(&path, error.error()))?;
        file.persist(&path).map_err(|error| unwritable(&path, &error.error))?;
        Ok(())
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::Usage(format!("--contexts {}: cannot be written: {error}", path.display()))
}

/// The requests of one conversation under one policy.
pub struct Requests<'a> {
    contexts: &'a mut Contexts,
    transcript: &'a str,
    conversation: &'a str,
    policy: &'a str,
}

impl Observer for Requests<'_> {
    fn request(&mut self, request: &Request, context: &Context) {
        let messages: Vec<Value> = context.messages().iter().map(|sent| context.wire(sent)).collect();
        let line = json!({
            "transcript": self.transcript,
            "conversation": self.conversation,
            "policy": self.policy,
            "call": request.call + 1,
            "estimate": request.estimate,
            "messages": messages,
        });
        if self.contexts.failed.is_none() {
            self.contexts.failed = writeln!(self.contexts.file, "{}", restore_escapes(line.to_string())).err();
        }
    }
}
