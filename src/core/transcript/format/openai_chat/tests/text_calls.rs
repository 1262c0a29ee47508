//! Runs of mini-swe-agent, whose calls and results are texts.

use super::*;

fn act(command: &str) -> Value {
    assistant(&format!("I look.\n\n```bash\n{command}\n```"))
}

fn observation(text: &str) -> Value {
    user(&format!("<returncode>0</returncode>\n<output>\n{text}\n</output>"))
}

#[test]
fn observations_are_results_of_the_bash_block() {
    let exit = json!({"role": "exit", "content": "done", "extra": {"exit_status": "Submitted"}});
    let messages = [
        json!({"role": "system", "content": "One ```bash block."}),
        user("fix it\n```bash\nls\n```"),
        act("ls"),
        observation("a.py"),
        assistant("I forgot the block."),
        user("Please provide exactly one action."),
        act("echo done"),
        user("diff --git a/a.py b/a.py"),
        user("The user added a new task: more"),
        exit,
    ];
    let reading = read_json(&json!(messages));
    let conversation = &reading.conversations[0];
    let expected = [
        "u: fix it\n```bash\nls\n```",
        "a: I look. [use call_1]",
        "u: [result call_1: <returncode>0</returncode>\n<output>\na.py\n</output>]",
        "a: I forgot the block.",
        "u: Please provide exactly one action.",
        "a: I look. [use call_2]",
        "u: [result call_2: diff --git a/a.py b/a.py] The user added a new task: more",
    ];
    assert_eq!((shape(conversation), &reading.notes), (expected.map(str::to_owned).to_vec(), &vec![]));
    let typed = conversation.messages.iter().filter(|message| conversation.is_typed(message)).count();
    assert_eq!((typed, conversation.tool_uses(), conversation.tool_results()), (2, 2, 2));
    assert_eq!(
        (&*conversation.pairs[0].name, conversation.block(conversation.messages[1].blocks[1]).wire["input"].clone()),
        ("bash", json!({"command": "ls"}))
    );
}

#[test]
fn a_run_that_says_so_may_have_its_own_words() {
    let messages = [user("fix it"), act("ls"), user("Observation: a.py")];
    let results = |document: Value| read_json(&document).conversations[0].tool_results();
    assert_eq!(results(json!({"info": {"mini_version": "1.9"}, "messages": messages})), 1);
    assert_eq!(results(json!({"trajectory_format": "mini-swe-agent-1", "messages": messages})), 1);
    assert_eq!(results(json!({"info": {}, "messages": messages})), 0);
}

#[test]
fn the_raw_response_in_a_message_has_its_usage() {
    let mut answer = act("ls");
    answer["extra"] = json!({"response": {"model": "m-1", "usage": {"prompt_tokens": 10, "completion_tokens": 7}}});
    let conversation = &read_json(&json!({"info": {}, "messages": [user("go"), answer, observation("a.py")]})).conversations[0];
    assert_eq!((conversation.calls[0].usage.map(|usage| usage.input), conversation.tool_results()), (Some(10), 1));
}

#[test]
fn bash_blocks_of_other_chats_are_text() {
    let chat = json!([user("how?"), act("ls"), user("thanks"), act("pwd")]);
    assert_eq!(read_json(&chat).conversations[0].tool_uses(), 0);
    let mixed = json!([user("how?"), calls(&["a"]), tool("a", "one"), act("ls"), observation("a.py")]);
    assert_eq!(read_json(&mixed).conversations[0].tool_uses(), 1);
}
