//! What replaces the results that are cleared, and the inputs of their calls.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Clear;
use super::calls::CallsBefore;
use crate::engine::context::{Context, Edit};
use crate::engine::layer::result_filter::Candidate;
use crate::engine::layer::saved_result::SavedResult;
use crate::engine::layer::{BlockPosition, NewFile};
use crate::tokens::meter::python_text;
use crate::transcript::conversation::Block;
use crate::util::template::{fill, has_placeholder};

impl Clear {
    /// Returns the edits that clear these results; none for results that are already cleared.
    pub(super) fn edits(&self, context: &Context, candidates: &[Candidate], calls: &mut CallsBefore) -> Vec<Edit> {
        let mut cleared_calls = BTreeSet::new();
        let mut edits = Vec::new();
        for candidate in candidates {
            let content = self.replacement(context, candidate);
            if self.only_if_shorter && content.is_none() {
                continue;
            }
            // Two results may belong to one call.
            let call = if self.clear_inputs { calls.call_of(candidate) } else { None };
            edits.extend(call.filter(|call| cleared_calls.insert(*call)).map(clear_input));
            edits.extend(content.map(|content| candidate.position.with_content(content)));
        }
        edits
    }

    /// Returns the files in which these results are saved; none for results that stay or are already saved, and without `save.to`.
    pub(super) fn files(&self, context: &Context, candidates: &[Candidate]) -> Vec<NewFile> {
        if self.save.to.is_none() {
            return Vec::new();
        }
        let cleared = candidates.iter().filter(|candidate| self.replacement(context, candidate).is_some());
        cleared.filter_map(|candidate| Some(self.saved(context, candidate)?.into_file(candidate))).collect()
    }

    /// Returns whether this layer has cleared a result.
    pub(super) fn is_cleared(&self, context: &Context, candidate: &Candidate) -> bool {
        match self.save.to {
            None => self.placeholder_unless_cleared(context, candidate).is_none(),
            Some(_) => self.saved(context, candidate).is_none(),
        }
    }

    /// Returns what replaces the content of a result; `None` if the result is already cleared, or would not become shorter and must.
    fn replacement(&self, context: &Context, candidate: &Candidate) -> Option<String> {
        let content = match self.save.to {
            None => self.placeholder_unless_cleared(context, candidate)?,
            Some(_) => self.pointer_to_file(context, candidate).or_else(|| self.pointer_to_known_file(context, candidate))?,
        };
        let is_shorter = || self.filter.lists.chars(candidate.block).unwrap_or_default() > content.chars().count();
        (!self.only_if_shorter || is_shorter()).then_some(content)
    }

    fn saved<'a>(&self, context: &Context, candidate: &Candidate<'a>) -> Option<SavedResult<'a>> {
        let path = self.save.to.as_deref()?;
        let text = self.filter.lists.content(candidate.block).unwrap_or_default();
        SavedResult::new(path, true, text, context, candidate)
    }

    fn pointer_to_file(&self, context: &Context, candidate: &Candidate) -> Option<String> {
        let saved = self.saved(context, candidate)?;
        let (tool, lines) = (context.tool_name(candidate.pair), python_text::line_count(&saved.text).to_string());
        let (head, tail) = (saved.head(self.save.preview_chars), saved.tail(self.save.preview_chars));
        let values = [("tool", tool), ("lines", &lines), ("path", &saved.path), ("head", head), ("tail", tail)];
        Some(fill(&self.placeholder, &values))
    }

    /// Returns what replaces the marker of a result that another layer has saved, with the path of its file.
    fn pointer_to_known_file(&self, context: &Context, candidate: &Candidate) -> Option<String> {
        let content = self.filter.lists.content(candidate.block).filter(|_| context.is_synthetic(candidate.id))?;
        self.placeholder_of_saved(&content, context.tool_name(candidate.pair)).filter(|pointer| *pointer != *content)
    }

    fn placeholder_of_saved(&self, content: &str, tool: &str) -> Option<String> {
        let path = |line| str::strip_prefix(line, &*self.save.line);
        let path = content.lines().find_map(path).filter(|_| !self.save.placeholder.is_empty())?;
        Some(fill(&self.save.placeholder, &[("path", path), ("tool", tool)]))
    }

    fn placeholder_unless_cleared(&self, context: &Context, candidate: &Candidate) -> Option<String> {
        let tool = context.tool_name(candidate.pair);
        let placeholder = self.placeholder_for(tool, candidate.block);
        let is_cleared = |content: &str| content == placeholder || self.is_placeholder_with_lines(content, tool);
        let is_cleared = candidate.block.field("content").and_then(Value::as_str).is_some_and(is_cleared);
        (!is_cleared).then_some(placeholder)
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
        if self.save.placeholder.is_empty() && !states_lines {
            return fill(&self.placeholder, &[("tool", tool)]);
        }
        let content = self.filter.lists.content(block).unwrap_or_default();
        if let Some(pointer) = self.placeholder_of_saved(&content, tool) {
            return pointer;
        }
        let lines = if states_lines { python_text::line_count(&content).to_string() } else { String::new() };
        fill(&self.placeholder, &[("tool", tool), ("lines", &lines)])
    }
}

fn clear_input(call: BlockPosition) -> Edit {
    let BlockPosition { message, block } = call;
    Edit::Rewrite { message, block, field: "input", value: Value::Object(Map::new()) }
}
