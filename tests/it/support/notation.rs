//! Reads conversations from a few lines of text, and writes requests in the same notation. `fixtures/cases/README.md` explains
//! it.

use recompact::engine::context::{Context, ContextMessage};
use recompact::transcript::conversation::{
    Block, BlockId, BlockKind, Call, Compaction, Conversation, ConversationBuilder, Message, Origin, RecordedEdit, Role,
    Thinking, Usage,
};
use serde_json::{Value, json};

/// Reads a conversation.
pub fn parse(text: &str) -> Result<Conversation, String> {
    let mut reader =
        Reader { builder: ConversationBuilder::new("case", "messages", Thinking::Turn), open: Vec::new(), time: None, at: 0 };
    for line in unrolled(text)? {
        reader.at += 1;
        reader.line(&line).map_err(|what| format!("`{line}`: {what}"))?;
    }
    reader.close();
    Ok(reader.builder.finish())
}

/// Writes `repeat N` … `end` out: `*` counts the rounds of the whole text.
fn unrolled(text: &str) -> Result<Vec<String>, String> {
    let (mut lines, mut round) = (Vec::new(), 0);
    let mut rest = text.lines().filter(|line| !line.trim().is_empty());
    while let Some(line) = rest.next() {
        let Some(times) = line.strip_prefix("repeat ") else {
            lines.push(expanded(line));
            continue;
        };
        let times: usize = times.parse().map_err(|_| format!("`{line}`: repeat takes a number"))?;
        let body: Vec<_> = rest.by_ref().take_while(|line| *line != "end").collect();
        for _ in 0..times {
            round += 1;
            lines.extend(body.iter().map(|line| expanded(&numbered(line, round))));
        }
    }
    Ok(lines)
}

/// Replaces each `*` that is not part of `{x*120}` by the number of the round.
fn numbered(line: &str, round: usize) -> String {
    let mut parts = line.split('*');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| match part.starts_with(|c: char| c.is_ascii_digit()) {
        true => out + "*" + part,
        false => out + &round.to_string() + part,
    })
}

struct Reader {
    builder: ConversationBuilder,
    /// Blocks of the user's message that is being read.
    open: Vec<BlockId>,
    time: Option<i64>,
    /// Number of the current line.
    at: u32,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(clock) = line.strip_prefix("at ") {
            self.close();
            let (hours, minutes) = clock.split_once(':').ok_or("a clock is written 10:00")?;
            let number = |digits: &str| digits.parse::<i64>().map_err(|_| "a clock is written 10:00");
            self.time = Some((number(hours)? * 60 + number(minutes)?) * 60_000);
            return Ok(());
        }
        let (label, text) = line.split_once(':').ok_or("a line is written LABEL: TEXT")?;
        let text = text.strip_prefix(' ').unwrap_or(text);
        let text = if text == "(empty)" { "" } else { text };
        if !label.starts_with("  ") {
            self.close();
        }
        let (what, attributes) = label.trim().split_once(' ').unwrap_or((label.trim(), ""));
        match what {
            "user" => self.text(text, Origin::User),
            "note" => self.text(text, Origin::Injected),
            "system" => {
                self.builder.set_system(text);
                Ok(())
            }
            "assistant" => self.response(attributes, text),
            "fold" => self.fold(attributes, text),
            "clear" => self.clear(text),
            what => match what.strip_prefix("result#") {
                Some(id) => self.result(id, attributes, text),
                None => Err("unknown label".to_owned()),
            },
        }
    }

    fn text(&mut self, text: &str, origin: Origin) -> Result<(), String> {
        self.open.push(self.builder.text(text, origin, self.at));
        Ok(())
    }

    fn result(&mut self, id: &str, attributes: &str, text: &str) -> Result<(), String> {
        let is = |name: &str| attributes.split(' ').any(|attribute| attribute == name);
        let part = |text: &str| json!({"type": "text", "text": text});
        let content = if is("list") { text.split(" | ").map(part).collect() } else { Value::from(text) };
        let mut wire = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        if is("error") {
            wire["is_error"] = true.into();
        }
        self.open.push(self.builder.block(wire, Origin::Tool, self.at));
        Ok(())
    }

    fn response(&mut self, attributes: &str, text: &str) -> Result<(), String> {
        let usage = match attributes.strip_prefix("usage=") {
            Some(number) => Some(number.parse().map_err(|_| "usage takes a number")?),
            None => None,
        };
        let blocks = said(text).into_iter().map(|wire| self.builder.block(wire, Origin::Agent, self.at)).collect();
        let usage = usage.map(|input| Usage { input, ..Usage::default() });
        let call = Call { usage, time: self.time, ..Call::default() };
        self.builder
            .response(Message { role: Role::Assistant, is_string_content: false, blocks, time: self.time, line: self.at }, call);
        Ok(())
    }

    /// The recorded harness replaced all but the newest messages by a summary.
    fn fold(&mut self, attributes: &str, text: &str) -> Result<(), String> {
        let kept = attributes.strip_prefix("keep=").map_or(Ok(0), |n| n.parse().map_err(|_| "keep takes a number"))?;
        let summary = self.builder.text(text, Origin::Compaction, self.at);
        let messages = &self.builder.so_far().messages;
        let mut into =
            vec![Message { role: Role::User, is_string_content: true, blocks: vec![summary], time: None, line: self.at }];
        into.extend(messages[messages.len() - kept..].iter().cloned());
        self.compaction(RecordedEdit::Fold { into })
    }

    /// The recorded harness cleared these results.
    fn clear(&mut self, ids: &str) -> Result<(), String> {
        let pair = |id: &str| self.builder.pair(id.trim_start_matches('#')).ok_or_else(|| format!("no call has the id {id}"));
        let pairs = ids.split(' ').map(pair).collect::<Result<_, _>>()?;
        self.compaction(RecordedEdit::Clear { pairs })
    }

    fn compaction(&mut self, edit: RecordedEdit) -> Result<(), String> {
        let at = self.builder.so_far().messages.len();
        let compaction = Compaction {
            message_index: at,
            edit,
            trigger: None,
            tokens_before: None,
            tokens_after: None,
            summary_usage: None,
            line: self.at,
        };
        self.builder.compaction(compaction);
        Ok(())
    }

    /// Ends the user's message that is being read. One text alone is a bare string.
    fn close(&mut self) {
        let blocks = std::mem::take(&mut self.open);
        let plain = matches!(&blocks[..], [only] if self.builder.so_far().block(*only).kind == BlockKind::Text);
        let line = blocks.first().map_or(0, |first| self.builder.so_far().block(*first).line);
        self.builder.message(Message { role: Role::User, is_string_content: plain, blocks, time: self.time, line });
    }
}

/// The blocks of a response: text, `(thinking: …)`, `[TOOL#ID ARGUMENT]`.
fn said(text: &str) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let special =
            rest.char_indices().find_map(|(at, _)| Some((at, thinking(&rest[at..]).or_else(|| tool_use(&rest[at..]))?)));
        let (at, (length, block)) = special.map_or((rest.len(), (0, None)), |(at, (length, block))| (at, (length, Some(block))));
        if !rest[..at].trim().is_empty() {
            blocks.push(json!({"type": "text", "text": rest[..at].trim()}));
        }
        blocks.extend(block);
        rest = rest[at + length..].trim_start();
    }
    if blocks.is_empty() { vec![json!({"type": "text", "text": ""})] } else { blocks }
}

fn thinking(text: &str) -> Option<(usize, Value)> {
    let (thought, _) = text.strip_prefix("(thinking: ")?.split_once(')')?;
    Some(("(thinking: )".len() + thought.len(), json!({"type": "thinking", "thinking": thought, "signature": "s"})))
}

fn tool_use(text: &str) -> Option<(usize, Value)> {
    let (call, _) = text.strip_prefix('[')?.split_once(']')?;
    let (name, argument) = call.split_once(' ').unwrap_or((call, ""));
    let (name, id) = name.split_once('#')?;
    let input = match named(argument) {
        _ if argument.is_empty() => json!({}),
        None => json!({"command": argument}),
        Some(_) => {
            // `; KEY=` begins the next argument.
            let mut input = serde_json::Map::new();
            let mut last = String::new();
            for part in argument.split("; ") {
                match (named(part), input.get_mut(&last)) {
                    (Some((key, value)), _) => {
                        key.clone_into(&mut last);
                        input.insert(key.to_owned(), value.into());
                    }
                    (None, Some(Value::String(before))) => before.extend(["; ", part]),
                    (None, _) => return None,
                }
            }
            Value::Object(input)
        }
    };
    Some((call.len() + 2, json!({"type": "tool_use", "id": id, "name": name, "input": input})))
}

/// `KEY=VALUE`
fn named(argument: &str) -> Option<(&str, &str)> {
    argument.split_once('=').filter(|(key, _)| !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
}

/// Writes a message of a request: its first block, and every other one on a line of its own below it.
pub fn message(context: &Context, sent: &ContextMessage) -> String {
    let blocks = || sent.blocks.iter().map(|id| context.block(*id));
    if sent.role == Role::Assistant {
        return format!("assistant: {}", blocks().map(saying).collect::<Vec<_>>().join(" "));
    }
    blocks().map(|block| line(context, block)).collect::<Vec<_>>().join("\n  ")
}

fn saying(block: &Block) -> String {
    match block.kind {
        BlockKind::Thinking => format!("(thinking: {})", shown(&block.text())),
        BlockKind::ToolUse(_) => {
            let field = |key: &str| block.wire()[key].as_str().unwrap_or_default();
            let argument = |(key, value): (&String, &Value)| {
                let key = if key == "command" { String::new() } else { format!("{key}=") };
                format!("{key}{}", value.as_str().unwrap_or_default())
            };
            let arguments: Vec<_> = block.wire()["input"].as_object().into_iter().flatten().map(argument).collect();
            let space = if arguments.is_empty() { "" } else { " " };
            format!("[{}#{}{space}{}]", field("name"), field("id"), arguments.join("; "))
        }
        _ => shown(&block.text()),
    }
}

fn line(context: &Context, block: &Block) -> String {
    let BlockKind::ToolResult(pair) = block.kind else {
        let label = match block.origin {
            Origin::User => "user",
            Origin::Compaction => "summary",
            _ => "note",
        };
        return format!("{label}: {}", shown(&block.text()));
    };
    let parts = block.wire()["content"].as_array();
    let (list, text) = match parts {
        Some(parts) => {
            let texts: Vec<_> = parts.iter().map(|part| part["text"].as_str().unwrap_or_default()).collect();
            (" list", texts.join(" | "))
        }
        None => ("", block.text().into_owned()),
    };
    let error = if block.is_error() { " error" } else { "" };
    format!("result#{}{error}{list}: {}", context.conversation().pair(pair).id, shown(&text))
}

/// Shorter runs of one character are written in full.
const SHORTEST_ROW: usize = 12;

/// Writes a text on one line: `\n` for a line end, `{x*120}` for a run of one character.
pub fn shown(text: &str) -> String {
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let mut row = 1;
        while chars.next_if_eq(&c).is_some() {
            row += 1;
        }
        let c = if c == '\n' { "\\n".to_owned() } else { c.to_string() };
        if row < SHORTEST_ROW { out.push_str(&c.repeat(row)) } else { out.push_str(&format!("{{{c}*{row}}}")) }
    }
    out
}

/// Reads such a text.
fn expanded(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(open) = rest.find('{') {
        let row = rest[open + 1..].split_once('}').and_then(|(row, after)| {
            let (text, times) = row.rsplit_once('*')?;
            Some((text.repeat(times.parse().ok()?), after))
        });
        out.push_str(&rest[..open]);
        match row {
            Some((text, after)) => {
                out.push_str(&text);
                rest = after;
            }
            None => {
                out.push('{');
                rest = &rest[open + 1..];
            }
        }
    }
    (out + rest).replace("\\n", "\n")
}
