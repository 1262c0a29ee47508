//! Random conversations in which unguessable facts are planted and used later, in the notation of the cases.

use proptest::prelude::*;
use recompact::transcript::conversation::Conversation;

use crate::support::{effort, notation};

/// Number of facts to plant.
const FACTS: usize = 9;

/// One call: its tool, the fact in its result, and the fact that it uses.
#[derive(Debug, Clone)]
pub struct Step {
    tool: usize,
    holds: Vec<usize>,
    uses: Vec<usize>,
    filler: usize,
    typed: Option<usize>,
    compacted: Option<usize>,
}

fn step() -> impl Strategy<Value = Step> {
    let some = |most| prop::collection::vec(0..FACTS, 0..most);
    let rare = prop::option::weighted(0.15, 0..FACTS);
    let compacted = prop::option::weighted(0.06, 0..3_usize);
    (0..TOOLS.len(), some(4), some(3), 0..400_usize, rare, compacted)
        .prop_map(|(tool, holds, uses, filler, typed, compacted)| Step { tool, holds, uses, filler, typed, compacted })
}

/// Checks a law for `cases` conversations, and for four times as many in a long run.
pub fn check(cases: u32, law: impl Fn(&Conversation)) {
    effort::check(cases, prop::collection::vec(step(), 2..30), |steps, _| law(&conversation(&steps)));
}

/// The same for trials that take turns: the law gets those that replay the conversation.
pub fn check_in_turn<T>(cases: u32, trials: &[T], law: impl Fn(&Conversation, Vec<&T>)) {
    let steps = prop::collection::vec(step(), 2..30);
    effort::check(cases, steps, |steps, case| law(&conversation(&steps), effort::in_turn(trials, case)));
}

/// Tools whose results can be fetched again, and some whose results cannot.
const TOOLS: [&str; 4] = [
    "Read#N file_path=src/part_N/file.rs",
    "Bash#N cargo test",
    "Write#N file_path=src/part_1/file.rs; content=x",
    "Grep#N pattern=a; path=src/part_2",
];

fn fact(number: usize) -> String {
    match number % 3 {
        0 => format!("planted_name_{number}"),
        1 => format!("plants/bed_{number}/leaf_{number}.rs"),
        _ => format!("let planted_{number} = grown({number}, {number});"),
    }
}

fn facts(numbers: &[usize]) -> String {
    numbers.iter().map(|number| fact(*number)).collect::<Vec<_>>().join("\\n")
}

fn conversation(steps: &[Step]) -> Conversation {
    let mut text = "user: Begin; never touch planted_name_0\n".to_owned();
    for (number, step) in (1..).zip(steps) {
        if let Some(keep) = step.compacted.filter(|_| number > 2) {
            text += &format!("fold keep={keep}: Summary with {}\n", fact(number % FACTS));
        }
        if let Some(typed) = step.typed {
            text += &format!("user: Mind {}\n", fact(typed));
        }
        let tool = TOOLS[step.tool].replace('N', &number.to_string());
        let quoted = step.uses.iter().map(|number| format!("> {}", fact(*number))).collect::<Vec<_>>().join("\\n");
        text += &format!(
            "assistant: I use\\n{quoted} [{tool}]\nresult#{number}: {}\\n{{word *{}}}\n",
            facts(&step.holds),
            step.filler
        );
    }
    notation::parse(&text).unwrap_or_else(|what| panic!("{what}\n{text}"))
}
