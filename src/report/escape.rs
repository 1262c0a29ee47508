//! Escapes hostile text: transcripts choose the names of files, tools and conversations.

use std::borrow::Cow;

use crate::text::surrogates::lone_surrogate;

/// Escapes text for a terminal: characters that are invisible, move the cursor or change the writing direction are
/// shown as `\u{202e}`.
pub fn terminal(text: &str) -> Cow<'_, str> {
    match escape(text, &[]) {
        Cow::Borrowed(text) => without_commands(text),
        Cow::Owned(text) => Cow::Owned(without_commands(&text).into_owned()),
    }
}

/// Shows the signs that begin a workflow command as escapes. GitHub executes lines of the output that begin with `::` after spaces, and
/// Azure Pipelines those with `##[`; both look at whole lines, so this is the last step before lines are printed.
pub fn without_commands(lines: &str) -> Cow<'_, str> {
    if !lines.contains("::") && !lines.contains("##[") {
        return Cow::Borrowed(lines);
    }
    let safe_line = |line: &str| {
        let line = line.replace("##[", r"#\u{23}[");
        let content = line.trim_start();
        let indent = &line[..line.len() - content.len()];
        content.strip_prefix("::").map_or_else(|| line.clone(), |command| format!(r"{indent}\u{{3a}}:{command}"))
    };
    Cow::Owned(lines.split_inclusive('\n').map(safe_line).collect())
}

/// Escapes a line for a terminal like [`terminal`], and keeps its tabs: sources are indented with them.
pub fn line(text: &str) -> Cow<'_, str> {
    if !text.contains('\t') {
        return terminal(text);
    }
    let parts: Vec<_> = text.split('\t').map(|part| escape(part, &[])).collect();
    Cow::Owned(without_commands(&parts.join("\t")).into_owned())
}

/// Escapes several lines for a terminal, each by itself.
pub fn terminal_lines(text: &str) -> String {
    text.lines().map(terminal).collect::<Vec<_>>().join("\n")
}

/// Escapes text for a Markdown table cell: a code span, in which GitHub finds no links, mentions, tags or emphasis.
/// Pipes and backticks could end the span, so they are shown as escapes, as invisible characters are.
pub fn markdown(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{}`", escape(text, &['|', '`'])) }
}

/// Whether a character is a control character, is invisible, or changes how the text around it is shown.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || lone_surrogate(c).is_some()
        || matches!(c,
            '\u{ad}'                      // soft hyphen
            | '\u{61c}'                   // Arabic letter mark
            | '\u{180e}'                  // Mongolian vowel separator
            | '\u{200b}'..='\u{200f}'     // zero-width spaces and joiners, direction marks
            | '\u{2028}'..='\u{202e}'     // line and paragraph separators, embeddings and overrides
            | '\u{2060}'..='\u{206f}'     // word joiner, invisible operators, isolates
            | '\u{feff}'                  // byte-order mark
            | '\u{fff9}'..='\u{fffb}'     // interlinear annotation
            | '\u{fffe}' | '\u{ffff}'     // noncharacters, forbidden in XML
            | '\u{e0000}'..='\u{e007f}') // tags
}

/// Replaces invisible characters and those of `also` with `\u{…}` escapes.
fn escape<'a>(text: &'a str, also: &[char]) -> Cow<'a, str> {
    let unwanted = |c: char| is_unseen(c) || also.contains(&c);
    if !text.contains(unwanted) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match lone_surrogate(c) {
            Some(unit) => out.push_str(&format!("\\u{{{unit:x}}}")),
            None if unwanted(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_removes_terminal_controls() {
        assert_eq!(terminal("\u{1b}[2Jgone\r\n\u{9b}31m"), r"\u{1b}[2Jgone\u{d}\u{a}\u{9b}31m");
        assert_eq!(terminal("cod\u{202e}nosj.\u{2066}a\u{200b}b"), r"cod\u{202e}nosj.\u{2066}a\u{200b}b");
        assert_eq!(terminal("a\u{0}b\u{b}\u{fffe}"), r"a\u{0}b\u{b}\u{fffe}");
        assert_eq!(terminal("half a pair \u{10d83d}"), r"half a pair \u{d83d}");
        assert_eq!(terminal("größe 大きさ 😀"), "größe 大きさ 😀");
    }

    #[test]
    fn a_line_keeps_its_tabs() {
        assert_eq!(line("\tif\u{1b}\tx"), "\tif\\u{1b}\tx");
        assert_eq!(line("\t::error::x"), "\t\\u{3a}:error::x");
        assert_eq!(line("plain\r"), r"plain\u{d}");
    }

    #[test]
    fn workflow_commands_are_not_executed() {
        assert_eq!(terminal("::error::x"), r"\u{3a}:error::x");
        assert_eq!(terminal("a::b"), "a::b");
        assert_eq!(terminal("##[error]x"), r"#\u{23}[error]x");
        assert_eq!(without_commands("a\n  ::add-mask::b\nc ##[warning]"), "a\n  \\u{3a}:add-mask::b\nc #\\u{23}[warning]");
    }

    #[test]
    fn escape_keeps_text_inside_a_markdown_cell() {
        assert_eq!(markdown("a|b`c\n| d"), r"`a\u{7c}b\u{60}c\u{a}\u{7c} d`");
        assert_eq!(markdown("@someone <img src=x> [a](b)"), "`@someone <img src=x> [a](b)`");
        assert_eq!(markdown(""), "");
    }
}
