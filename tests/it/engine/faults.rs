//! What an API would refuse, where the cases cannot show it: a call in a message of the user, and how the journal writes faults.

use recompact::engine::context::{Context, FaultKind};
use recompact::engine::journal::{FaultTally, Request};
use recompact::engine::policy::Policy;
use recompact::engine::replay::NoObserver;
use recompact::transcript::conversation::{Call, Conversation, ConversationBuilder, Message, Origin, Role, Thinking};
use serde_json::{Value, json};

use crate::support::trace::layer;
use crate::support::trial::{Trial, preset_with};

/// A conversation of alternating messages, user first.
fn alternating(messages: &[&[Value]]) -> Conversation {
    let mut builder = ConversationBuilder::new("main", "test", Thinking::Turn);
    for (place, wires) in messages.iter().enumerate() {
        let role = if place % 2 == 0 { Role::User } else { Role::Assistant };
        let origin = if role == Role::User { Origin::User } else { Origin::Agent };
        let blocks = wires.iter().map(|wire| builder.block(wire.clone(), origin, 1)).collect();
        let message = Message { role, is_string_content: false, blocks, time: None, line: 1 };
        match role {
            Role::User => builder.message(message),
            Role::Assistant => builder.response(message, Call::default()),
        };
    }
    builder.finish()
}

/// Returns the faults of each request, each with the index of its message. Checks that the block of each is in that message.
fn faults(messages: &[&[Value]]) -> Vec<Vec<(FaultKind, usize)>> {
    let (mut tally, mut faults) = (FaultTally::default(), Vec::new());
    let mut observer = |request: &Request, context: &Context| {
        tally.advance(request);
        assert!(tally.faults().iter().all(|fault| context.messages()[fault.message].blocks.contains(&fault.block)));
        faults.push(tally.faults().iter().map(|fault| (fault.kind, fault.message)).collect());
    };
    Trial::new(preset_with("keep-all", &[])).replay(&alternating(messages), &mut observer);
    faults
}

#[test]
fn call_in_a_message_of_the_user_counts_once() {
    let text = json!({"type": "text", "text": "Go"});
    let call = json!({"type": "tool_use", "id": "t1", "name": "bash", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "t1", "content": "one"});
    let [text, call, result] = [text, call, result].map(|block| [block]);
    // A call of the user needs no result.
    assert_eq!(faults(&[&call, &text]), [vec![]]);
    // There is a call with this id, but not in the turn before.
    let misplaced = (FaultKind::MisplacedResult, 2);
    assert_eq!(faults(&[&call, &text, &result, &text]), [vec![], vec![misplaced]]);
    // The request after it begins the check at a later message; the call of the user still counts once.
    let too_late = (FaultKind::MisplacedResult, 6);
    assert_eq!(faults(&[&call, &text, &text, &text, &text, &text, &result, &text])[3], [too_late]);
    // The response has the second call with this id; its result has a call.
    let twice = (FaultKind::DuplicateId, 1);
    assert_eq!(faults(&[&call, &call, &result, &text]), [vec![], vec![twice]]);
    // Without the call of the user the result is an orphan.
    assert_eq!(faults(&[&text, &text, &result, &text]), [vec![], vec![(FaultKind::OrphanResult, 2)]]);
}

/// Two results without calls, in messages 0 and 2. The layer clears both before the third request.
#[test]
fn fault_that_stays_is_written_once() {
    let text = [json!({"type": "text", "text": "Go"})];
    let result = |id: &str| [json!({"type": "tool_result", "tool_use_id": id, "content": "one"})];
    let conversation = alternating(&[&result("t1"), &text, &result("t2"), &text, &text, &text, &text, &text]);
    let clear = layer("do = \"clear\"\nwhen = { calls = 2 }\nkeep_recent = 0\nplaceholder = \"-\"");
    // How many faults are those of the request before, and the messages of the others.
    let written = |policy: Policy| {
        let journal = Trial::new(policy).replay(&conversation, &mut NoObserver);
        let delta = |request: &Request| {
            let new: Vec<_> = request.faults.appended.iter().map(|fault| fault.message).collect();
            (request.faults.shared_prefix, new)
        };
        journal.requests.iter().map(delta).collect::<Vec<_>>()
    };
    assert_eq!(written(preset_with("keep-all", &[])), [(0, vec![0]), (1, vec![2]), (2, vec![]), (2, vec![])]);
    // Other blocks take their places before the third request.
    assert_eq!(written(clear), [(0, vec![0]), (1, vec![2]), (0, vec![0, 2]), (2, vec![])]);
}
