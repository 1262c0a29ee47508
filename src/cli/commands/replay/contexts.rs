//! `--contexts FILE`: writes the exact request of every call, one JSON object per line.

use std::path::Path;

use recompact::engine::context::Context;
use recompact::engine::journal::Request;
use recompact::engine::policy::Policy;
use recompact::engine::replay::Observer;
use recompact::text::surrogates::restore_escapes;
use recompact::transcript::conversation::Conversation;
use serde_json::{Value, json};

use crate::cli::error::Failure;
use crate::cli::output::{Draft, OutputError};

/// The output file and the first write error. The file gets its name when it is complete.
pub struct ContextsFile {
    file: Draft,
    /// Number of bytes of the sessions that are done.
    done: u64,
    failed: Option<OutputError>,
}

impl ContextsFile {
    pub fn create(path: &Path) -> Result<Self, Failure> {
        Ok(Self { file: Draft::begin(path)?, done: 0, failed: None })
    }

    pub fn writer<'a>(
        &'a mut self,
        transcript: &'a str,
        conversation: &'a Conversation,
        policy: &'a Policy,
    ) -> RequestWriter<'a> {
        RequestWriter { contexts: self, transcript, conversation: &conversation.name, policy: &policy.name }
    }

    /// Ends a session. Removes its requests if it is left out: half of a replay would look like a whole one.
    pub fn session_done(&mut self, is_kept: bool) {
        if is_kept {
            self.done = self.file.length();
        } else if self.failed.is_none() {
            self.failed = self.file.cut(self.done).err();
        }
    }

    pub fn finish(self) -> Result<(), Failure> {
        match self.failed {
            Some(error) => Err(error.into()),
            None => Ok(self.file.finish()?),
        }
    }
}

/// Writes the requests of one conversation under one policy.
pub struct RequestWriter<'a> {
    contexts: &'a mut ContextsFile,
    transcript: &'a str,
    conversation: &'a str,
    policy: &'a str,
}

impl Observer for RequestWriter<'_> {
    fn request(&mut self, request: &Request, context: &Context) {
        let messages: Vec<Value> = context.messages().iter().map(|message| context.wire(message)).collect();
        let line = json!({
            "transcript": self.transcript,
            "conversation": self.conversation,
            "policy": self.policy,
            "call": request.call + 1,
            "estimate": request.estimate,
            "messages": messages,
        });
        if self.contexts.failed.is_none() {
            let line = restore_escapes(line.to_string()) + "\n";
            self.contexts.failed = self.contexts.file.write(line.as_bytes()).err();
        }
    }
}
