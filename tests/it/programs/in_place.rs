//! An answer that names what it changed and an answer with the whole list are one answer.

use recompact::engine::context::{Context, MessageUnit, RewriteCache};
use recompact::engine::external::{Item, Listing, Seen, Shape, ShownMessage, WrittenMessage, plan};
use recompact::programs::shape::{from_wire, to_wire};
use recompact::tokens::block_sizes::BlockSizes;
use recompact::tokens::meter::SizeUnit;
use recompact::transcript::conversation::{Conversation, Thinking};
use serde_json::Value;

use crate::support::generate;

/// What a policy does with a message: it may leave it, or write another text, another first block, or a block more.
const CHANGES: [fn(&mut Vec<Value>); 5] = [
    |_| {},
    |blocks| blocks.iter_mut().for_each(clear),
    |blocks| blocks.iter_mut().take(1).for_each(clear),
    |blocks| blocks.reverse(),
    |blocks| blocks.push(serde_json::json!({"type": "text", "text": "and more"})),
];

fn clear(block: &mut Value) {
    for field in ["text", "content"] {
        if let Some(value) = block.get_mut(field) {
            *value = "cleared".into();
        }
    }
}

/// Returns the message as the policy writes it, if it is another one then.
fn changed(shown: &ShownMessage, shape: Shape, change: fn(&mut Vec<Value>)) -> Option<WrittenMessage> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(to_wire(shape, shown)) else { return None };
    fields.remove("id");
    let parsed = from_wire(shape, fields).expect("a message that was shown");
    let mut blocks = parsed.blocks.clone();
    change(&mut blocks);
    let (role, is_string_content) = (parsed.role, parsed.is_string_content);
    (blocks != parsed.blocks).then(|| WrittenMessage { replaces: vec![shown.id], role, is_string_content, blocks })
}

/// Compares the two answers for one conversation; returns how many messages were written.
fn check(conversation: &Conversation, first_change: usize) -> usize {
    let (sizes, rewrites) = (BlockSizes::new(conversation, [SizeUnit::Chars]), RewriteCache::new(conversation));
    let mut context = Context::new(conversation, &sizes, &rewrites, MessageUnit::Whole);
    for message in &conversation.messages {
        context.append(message, false);
    }
    let mut written = 0;
    for shape in [Shape::Anthropic, Shape::OpenAi] {
        let mut seen = Seen::default();
        let news = seen.update(&context, shape);
        let (mut items, mut replace) = (Vec::new(), Vec::new());
        for (nth, shown) in seen.shown_new(&news, &context).into_iter().enumerate() {
            match changed(&shown, shape, CHANGES[(first_change + nth) % CHANGES.len()]) {
                Some(message) => {
                    replace.push(message.clone());
                    items.push(Item::Written(message));
                }
                None => items.push(Item::Kept(shown.id)),
            }
        }
        written += replace.len();
        let edits = |listing| plan(&seen, &context, listing).map(|plan| plan.map(|plan| plan.edits));
        let named = edits(Listing::Changes { drop: Vec::new(), replace: replace.clone() });
        assert_eq!(named, edits(Listing::All(items)), "{shape:?}, all changes");
        // Alone, most of them are done in place.
        for message in replace {
            let [id] = message.replaces[..] else { panic!("each replaces one") };
            let whole =
                seen.units().iter().map(|unit| if unit.id == id { Item::Written(message.clone()) } else { Item::Kept(unit.id) });
            let whole = edits(Listing::All(whole.collect()));
            assert_eq!(edits(Listing::Changes { drop: Vec::new(), replace: vec![message] }), whole, "{shape:?}, message {id}");
        }
    }
    written
}

#[test]
fn named_changes_are_the_whole_list() {
    let written = std::cell::Cell::new(0);
    generate::check(20, |steps| {
        let conversation = generate::conversation(steps, Thinking::All);
        let of = |first| check(&conversation, first);
        written.set(written.get() + (0..CHANGES.len()).map(of).sum::<usize>());
    });
    assert!(written.get() > 500, "{} messages were written", written.get());
}
