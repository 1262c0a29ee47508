//! What replaces the results that are cleared, and the inputs of their calls.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Clear;
use crate::engine::context::{Context, Edit};
use crate::engine::layer::result_filter::Candidate;
use crate::engine::layer::saved_path::saved_path;
use crate::engine::layer::{BlockPosition, FileKind, NewFile};
use crate::tokens::meter::python_text;
use crate::transcript::conversation::{Block, BlockKind, Role};
use crate::util::template::{fill, has_placeholder};
use crate::util::text;

impl Clear {
    /// Returns the edits that clear these results, and the files in which they are saved; none for results that are already cleared.
    pub(super) fn edits(&self, context: &Context, candidates: &[Candidate]) -> (Vec<Edit>, Vec<NewFile>) {
        let mut cleared_calls = BTreeSet::new();
        let (mut edits, mut files) = (Vec::new(), Vec::new());
        for candidate in candidates {
            // Two results may belong to one call.
            let call = if self.clear_inputs { find_call_with_input(context, candidate) } else { None };
            edits.extend(call.filter(|call| cleared_calls.insert(*call)).map(clear_input));
            match &self.save_to {
                None => edits.extend(self.clear_content(context, candidate)),
                Some(path) => {
                    let Some((marker, file)) = self.save(path, context, candidate) else { continue };
                    edits.push(candidate.position.with_content(marker));
                    files.push(file);
                }
            }
        }
        (edits, files)
    }

    /// Returns what replaces a result that is saved, and its file; `None` for the marker of a result that is saved already.
    fn save(&self, path: &str, context: &Context, candidate: &Candidate) -> Option<(String, NewFile)> {
        let path = saved_path(path, context, candidate, true);
        let text = self.filter.lists.content(candidate.block).unwrap_or_default();
        if context.is_synthetic(candidate.id) && text.contains(&path) {
            return None;
        }
        let lines = python_text::line_count(&text).to_string();
        let head = text::head(&text, self.preview_chars);
        let tool = context.tool_name(candidate.pair);
        let marker = fill(&self.placeholder, &[("tool", tool), ("lines", &lines), ("path", &path), ("head", head)]);
        Some((marker, NewFile { kind: FileKind::Persisted, block: Some(candidate.id), path, text: text.into_owned() }))
    }

    fn clear_content(&self, context: &Context, candidate: &Candidate) -> Option<Edit> {
        let tool = context.tool_name(candidate.pair);
        let placeholder = self.placeholder_for(tool, candidate.block);
        let is_cleared = |content: &str| content == placeholder || self.is_placeholder_with_lines(content, tool);
        let is_cleared = candidate.block.field("content").and_then(Value::as_str).is_some_and(is_cleared);
        (!is_cleared).then(|| candidate.position.with_content(placeholder))
    }

    /// Returns whether a content is the placeholder, filled in for a result whose number of lines is not known any more.
    fn is_placeholder_with_lines(&self, content: &str, tool: &str) -> bool {
        let Some((before, after)) = self.placeholder.split_once("{lines}") else { return false };
        let [before, after] = [before, after].map(|part| fill(part, &[("tool", tool)]));
        let lines = content.strip_prefix(&*before).and_then(|rest| rest.strip_suffix(&*after));
        lines.is_some_and(|lines| !lines.is_empty() && lines.bytes().all(|byte| byte.is_ascii_digit()))
    }

    fn placeholder_for(&self, tool: &str, block: &Block) -> String {
        let states_lines = has_placeholder(&self.placeholder, "lines");
        if self.placeholder_saved.is_empty() && !states_lines {
            return fill(&self.placeholder, &[("tool", tool)]);
        }
        let content = self.filter.lists.content(block).unwrap_or_default();
        let path = content.lines().find_map(|line| line.strip_prefix(&*self.saved_line));
        if let Some(path) = path.filter(|_| !self.placeholder_saved.is_empty()) {
            return fill(&self.placeholder_saved, &[("path", path), ("tool", tool)]);
        }
        let lines = if states_lines { python_text::line_count(&content).to_string() } else { String::new() };
        fill(&self.placeholder, &[("tool", tool), ("lines", &lines)])
    }
}

/// Returns the position of the call that a result answers, if the call is in the turn before and its input is not empty yet.
fn find_call_with_input(context: &Context, candidate: &Candidate) -> Option<BlockPosition> {
    let before = context.messages()[..candidate.position.message].iter().enumerate().rev();
    let mut turn =
        before.skip_while(|(_, message)| message.role == Role::User).take_while(|(_, message)| message.role == Role::Assistant);
    turn.find_map(|(index, message)| {
        let block = message.blocks.iter().position(|id| context.block(*id).kind == BlockKind::ToolUse(candidate.pair))?;
        let input = context.block(message.blocks[block]).field("input")?;
        input.as_object().is_none_or(|fields| !fields.is_empty()).then_some(BlockPosition { message: index, block })
    })
}

fn clear_input(call: BlockPosition) -> Edit {
    let BlockPosition { message, block } = call;
    Edit::Rewrite { message, block, field: "input", value: Value::Object(Map::new()) }
}
