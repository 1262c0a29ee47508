use serde_json::json;

use super::*;
use crate::transcript::conversation::PairId;

/// Returns the lines of a block that are facts; quoted ones begin with `> `.
fn quotes(kind: BlockKind, origin: Origin, wire: Value) -> Vec<String> {
    let mut all = Vec::new();
    in_block(&block(kind, origin, wire), &mut |seen| {
        let mark = if seen.said { "> " } else { "" };
        all.extend((seen.kind == FactKind::Line).then(|| format!("{mark}{}", seen.text)));
    });
    all
}

fn block(kind: BlockKind, origin: Origin, wire: Value) -> Block {
    Block { kind, origin, line: 1, recorded_tokens: None, says_failed: false, wire }
}

#[test]
fn edit_inputs_count_as_quotes_of_the_searched_text() {
    let input = json!({"file_path": "src/pool.rs", "edits": [{"old_string": "    let idle = pool.idle();\n", "new_string": "+ let idle = pool.size(); "}]});
    let wire = json!({"type": "tool_use", "id": "t", "name": "Edit", "input": input});
    let quoted = quotes(BlockKind::ToolUse(PairId(0)), Origin::Agent, wire);
    assert_eq!(quoted, ["> let idle = pool.idle();", "let idle = pool.size();"]);
}

#[test]
fn a_short_input_shows_itself_as_a_quotation() {
    let quoted = |input: Value| {
        let mut all = Vec::new();
        let wire = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": input});
        in_block(&block(BlockKind::ToolUse(PairId(0)), Origin::Agent, wire), &mut |seen| {
            all.extend((seen.kind == FactKind::Quoted).then(|| (seen.text.to_owned(), seen.said)));
        });
        all
    };
    assert_eq!(quoted(json!({"command": "pool run idle"})), [("pool run idle".to_owned(), false)]);
    // Too short, no space, two lines, and a text that an edit searches for.
    for input in [
        json!({"a": "pool x"}),
        json!({"a": "pool-run-idle"}),
        json!({"a": "pool run\nidle"}),
        json!({"old_string": "pool run idle"}),
    ] {
        assert_eq!(quoted(input.clone()), [], "{input}");
    }
}

#[test]
fn patches_count_as_quotes_of_kept_and_removed_lines() {
    let patch = "*** Begin Patch\n*** Add File: src/new.rs\n no hunk of a patch yet\n*** Update File: src/pool.rs\n@@ fn idle() of the pool\n context of the change here\n-what was there before it\n+what is there after it\n--- not a line of the file\n*** End Patch";
    let wire = json!({"input": {"command": ["apply_patch", patch]}});
    let quoted = quotes(BlockKind::ToolUse(PairId(0)), Origin::Agent, wire);
    let marked: Vec<_> = quoted.iter().filter_map(|line| line.strip_prefix("> ")).collect();
    assert_eq!(marked, ["context of the change here", "what was there before it"]);
    assert!(quoted.contains(&"what is there after it".to_owned()));
}

#[test]
fn fences_and_quote_marks_count_as_quotes() {
    let text =
        "It is here, in the pool:\n```rust\nlet idle = pool.idle();\n```\n> as you said in the request\nand this is my own word.";
    let lines = ["let idle = pool.idle();", "as you said in the request"];
    let wire = || json!({"type": "text", "text": text});
    let answer = quotes(BlockKind::Text, Origin::Agent, wire());
    let marked: Vec<_> = answer.iter().filter_map(|line| line.strip_prefix("> ")).collect();
    assert_eq!(marked, lines);
    assert!(answer.contains(&"and this is my own word.".to_owned()));
    let typed = quotes(BlockKind::Text, Origin::User, wire());
    assert!(typed.contains(&lines[0].to_owned()), "only an agent quotes: {typed:?}");
}

#[test]
fn blocks_are_read_where_a_model_reads_them() {
    let seen = |kind, wire| {
        let mut all = Vec::new();
        in_block(&block(kind, Origin::Agent, wire), &mut |seen| all.push((seen.text.to_owned(), seen.line)));
        all
    };
    let at = |texts: &[(&str, u32)]| texts.iter().map(|(text, line)| ((*text).to_owned(), *line)).collect::<Vec<_>>();
    assert_eq!(seen(BlockKind::Thinking, json!({"thinking": "max_idle"})), []);
    assert_eq!(seen(BlockKind::Media, json!({"source": {"data": "max_idle"}})), []);
    let input = json!({"key_name": "max_idle\n\npool_size", "n": 123456, "list": ["next_one"]});
    assert_eq!(
        seen(BlockKind::ToolUse(PairId(0)), json!({"input": input})),
        at(&[("max_idle", 0), ("pool_size", 2), ("next_one", 3)])
    );
    assert_eq!(seen(BlockKind::ToolUse(PairId(0)), json!({"input": "max_idle"})), at(&[("max_idle", 0)]));
    let content = json!({"content": [{"type": "text", "text": "max_idle"}, {"type": "text", "text": "pool_size"}]});
    assert_eq!(seen(BlockKind::ToolResult(PairId(0)), content), at(&[("max_idle", 0), ("pool_size", 1)]));
    let other =
        json!({"type": "server_tool", "id": "id_of_it", "signature": "sign_it", "query": "max_idle", "data": "data_of_it"});
    assert_eq!(seen(BlockKind::Other, other), at(&[("max_idle", 0)]));
    // A path in one string of an input, and its file in another.
    let input = json!({"a": "pool.rs", "b": "net/pool.rs"});
    assert_eq!(seen(BlockKind::ToolUse(PairId(0)), json!({"input": input})), at(&[("net/pool.rs", 1), ("pool.rs", 1)]));
}
