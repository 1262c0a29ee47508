//! One table of all size units: what each says of the same small blocks and messages. The table writes out what a unit counts, where a
//! person would count it letter by letter.

use recompact::tokens::meter::{Meter, Rates, SizeUnit};
use recompact::transcript::conversation::{Block, ConversationBuilder, Origin, Role, Thinking};
use serde_json::{Value, json};

/// What one unit says.
struct Row {
    name: &'static str,
    /// Whether a message is larger than its blocks only by something that depends on their number; whether the unit is one of tokens.
    adds_up: bool,
    counts_tokens: bool,
    /// Size of the text `one two`; and of `é'😀`, if no vocabulary is needed to count it.
    words: u64,
    letters: Option<u64>,
    /// Size of the block with `one two` as one of several, and as the bare string of its message.
    text: u64,
    bare: u64,
    /// Size of the call of `one` without arguments, and of its result `one two`.
    call: u64,
    result: u64,
    /// Size of a picture of unknown size.
    picture: u64,
    /// Size of a user's message with one block of 10 that is a bare string; of a response with two blocks of together 10; and of a
    /// response with one block of 0.
    bare_message: u64,
    response: u64,
    empty_response: u64,
    /// Size of a list of three messages of together 30.
    list: u64,
}

/// Returns the length of a text that has only one-byte characters.
const fn written(text: &str) -> u64 {
    assert!(text.is_ascii());
    text.len() as u64
}

/// A unit whose messages are as large as their blocks together.
const PLAIN: Row = Row {
    name: "",
    adds_up: true,
    counts_tokens: false,
    words: 7,
    letters: None,
    text: 7,
    bare: 7,
    // `one` and `{}`
    call: 3 + 2,
    result: 7,
    // No text.
    picture: 0,
    bare_message: 10,
    response: 10,
    empty_response: 0,
    list: 30,
};

/// Messages as Python writes them, with a space behind each comma and colon. Each `#` is one of the size of a block.
const PYTHON: Row = Row {
    words: written("'one two'"),
    text: written("{'type': 'text', 'text': 'one two'}"),
    bare: written("'one two'"),
    call: written("{'type': 'tool_use', 'id': 't1', 'name': 'one', 'input': {}}"),
    result: written("{'type': 'tool_result', 'tool_use_id': 't1', 'content': 'one two'}"),
    picture: written("{'type': 'image', 'source': {'type': 'file', 'file_id': 'f1'}}"),
    bare_message: written("{'role': 'user', 'content': ##########}"),
    response: written("{'role': 'assistant', 'content': [#####, #####]}"),
    empty_response: written("{'role': 'assistant', 'content': []}"),
    list: written("[##########, ##########, ##########]"),
    ..PLAIN
};

/// Two words are two tokens, and so are the name and the input of the call. A picture has the most tokens that one can have.
const VOCABULARY: Row = Row { counts_tokens: true, words: 2, text: 2, bare: 2, call: 2, result: 2, picture: 1_600, ..PLAIN };

const ROWS: [Row; 17] = [
    Row { name: "chars", letters: Some(3), ..PLAIN },
    Row { name: "bytes", letters: Some(2 + 1 + 4), ..PLAIN },
    Row { name: "utf16", letters: Some(1 + 1 + 2), ..PLAIN },
    // A text with an apostrophe is written between double quotes.
    Row { name: "py-repr", letters: Some(1 + 3 + 1), ..PYTHON },
    Row { name: "json", letters: Some(1 + 3 + 1), ..PYTHON },
    // An escape such as \u00e9 takes six characters, and 😀 is two of them.
    Row { name: "json-ascii", letters: Some(1 + 6 + 1 + 12 + 1), ..PYTHON },
    Row {
        name: "js-json",
        words: written("'one two'"),
        letters: Some(1 + 4 + 1),
        text: written("{'type':'text','text':'one two'}"),
        bare: written("'one two'"),
        call: written("{'type':'tool_use','id':'t1','name':'one','input':{}}"),
        result: written("{'type':'tool_result','tool_use_id':'t1','content':'one two'}"),
        picture: written("{'type':'image','source':{'type':'file','file_id':'f1'}}"),
        bare_message: written("{'role':'user','content':##########}"),
        response: written("{'role':'assistant','content':[#####,#####]}"),
        empty_response: written("{'role':'assistant','content':[]}"),
        list: written("[##########,##########,##########]"),
        ..PLAIN
    },
    Row { name: "o200k", ..VOCABULARY },
    Row { name: "cl100k", ..VOCABULARY },
    Row {
        name: "langchain",
        adds_up: false,
        counts_tokens: true,
        letters: Some(3),
        call: written("[{'name': 'one', 'args': {}, 'id': 't1', 'type': 'tool_call'}]"),
        // With the id.
        result: 7 + 2,
        // 85 tokens of four characters.
        picture: 340,
        // A quarter of the characters and of the role's name, rounded up, and three: 14 ÷ 4, 19 ÷ 4 and 9 ÷ 4.
        bare_message: 4 + 3,
        response: 5 + 3,
        empty_response: 3 + 3,
        ..PLAIN
    },
    // A call is no content. A response without content is `None`, one token.
    Row { name: "llama-index", adds_up: false, call: 0, picture: 0, empty_response: 1, ..VOCABULARY },
    // A result has the tokens of {'tool_call_id': 't1'}, too: `{'`, `tool`, `_call`, `_id`, `':`, ` '`, `t`, `1`, `'}`.
    Row { name: "llama-index-memory", adds_up: false, call: 0, result: 2 + 9, picture: 0, ..VOCABULARY },
    // A quarter, rounded up.
    Row {
        name: "pi",
        adds_up: false,
        counts_tokens: true,
        letters: Some(1 + 1 + 2),
        picture: 4_800,
        bare_message: 3,
        response: 3,
        ..PLAIN
    },
    // Quarters of a token: a unit outside of ASCII is six.
    Row {
        name: "gemini",
        letters: Some(6 + 1 + 12),
        call: written("{'functionCall':{'id':'t1','name':'one','args':{}}}"),
        result: written("{'output':'one two'}"),
        picture: 4 * 3_000,
        ..PLAIN
    },
    // A quarter, rounded down.
    Row {
        name: "agent-framework",
        adds_up: false,
        counts_tokens: true,
        letters: Some(3),
        text: written("{'additional_properties': {}, 'text': 'one two', 'type': 'text'}"),
        bare: written("{'additional_properties': {}, 'text': 'one two', 'type': 'text'}"),
        call: written(
            "{'additional_properties': {}, 'arguments': '{}', 'call_id': 't1', 'hosted': false, 'name': 'one', 'type': 'function_call'}",
        ),
        result: written("{'additional_properties': {}, 'call_id': 't1', 'result': 'one two', 'type': 'function_result'}"),
        picture: written("{'type': 'image', 'source': {'type': 'file', 'file_id': 'f1'}}"),
        bare_message: written("{'contents': [##########], 'message_id': 'msg_100', 'role': 'user'}") / 4,
        response: written("{'contents': [#####, #####], 'message_id': 'msg_100', 'role': 'assistant'}") / 4,
        empty_response: written("{'contents': [], 'message_id': 'msg_100', 'role': 'assistant'}") / 4,
        ..PLAIN
    },
    // A message is one, whatever is in it.
    Row {
        name: "messages",
        adds_up: false,
        words: 0,
        letters: Some(0),
        text: 0,
        bare: 0,
        call: 0,
        result: 0,
        picture: 0,
        bare_message: 1,
        response: 1,
        empty_response: 1,
        ..PLAIN
    },
    // Ten-thousandths of a token by the rates below: 1,000 for each character of a result, 2,000 of a call, 3,000 of a text.
    Row {
        name: "recorded",
        counts_tokens: true,
        words: 7 * 3_000,
        letters: Some(3 * 3_000),
        text: 7 * 3_000,
        bare: 7 * 3_000,
        call: 5 * 2_000,
        result: 7 * 1_000,
        picture: 1_600 * 10_000,
        ..PLAIN
    },
];

const FITTED: SizeUnit = SizeUnit::Fitted(Rates { by_class: [1_000, 2_000, 3_000, 4_000], per_call: 0 });

/// Returns all units, in the order of the table.
fn units() -> impl Iterator<Item = SizeUnit> {
    SizeUnit::ALL.iter().map(|(unit, _)| *unit).chain([FITTED])
}

fn block(wire: Value) -> Block {
    let mut builder = ConversationBuilder::new("main", "test", Thinking::All);
    let id = builder.block(wire, Origin::Agent, 1);
    builder.so_far().block(id).clone()
}

#[test]
fn every_unit_counts_as_the_table_says() {
    let text = block(json!({"type": "text", "text": "one two"}));
    let call = block(json!({"type": "tool_use", "id": "t1", "name": "one", "input": {}}));
    let result = block(json!({"type": "tool_result", "tool_use_id": "t1", "content": "one two"}));
    let picture = block(json!({"type": "image", "source": {"type": "file", "file_id": "f1"}}));
    assert_eq!([units().count(), SizeUnit::MAX_UNITS], [ROWS.len(); 2], "a unit without a row");
    for (unit, row) in units().zip(&ROWS) {
        let Row { name, adds_up, counts_tokens, words, letters, .. } = *row;
        assert_eq!(unit.to_string(), name);
        assert_eq!((unit.adds_up(), Meter::from_unit(unit).counts_tokens()), (adds_up, counts_tokens), "{name}");
        assert_eq!(unit.text("one two"), words, "{name}");
        assert!(letters.is_none_or(|letters| letters == unit.text("é'😀")), "{name}: {}", unit.text("é'😀"));
        let blocks = [&text, &call, &result, &picture].map(|block| unit.block(block, false));
        assert_eq!(blocks, [row.text, row.call, row.result, row.picture], "{name}");
        assert_eq!(unit.block(&text, true), row.bare, "{name}");
        let messages = [
            unit.message(Role::User, true, 1, 10),
            unit.message(Role::Assistant, false, 2, 10),
            unit.message(Role::Assistant, false, 1, 0),
        ];
        assert_eq!(messages, [row.bare_message, row.response, row.empty_response], "{name}");
        assert_eq!(unit.list(3, 30), row.list, "{name}");
    }
}

#[test]
fn every_named_unit_is_read_by_its_name() {
    for (unit, name) in SizeUnit::ALL {
        assert_eq!(name.parse(), Ok(unit));
        assert_eq!(String::from(unit), name);
    }
    assert!("recorded".parse::<SizeUnit>().is_err(), "no policy can name the rates of a session");
}
