//! Reports of what recorded compactions lost, over invented losses.

use recompact::analysis::inspect::{CompactionLoss, Inspection, LostFact};
use recompact::analysis::study::TokenCounter;
use recompact::metrics::prices::Prices;
use recompact::report::escape::is_unseen;
use recompact::report::inspection::Inspections;
use recompact::report::{Layout, Style, by_name};
use recompact::results::saved::Coverage;
use recompact::transcript::conversation::{ConversationBuilder, Thinking};
use recompact::transcript::format::{Note, Reading};

/// Two transcripts without text, the first with two compactions, the second with none.
fn inspections() -> [Inspection; 2] {
    let empty = |path: &str| {
        let conversation = ConversationBuilder::new("main", "claude-code", Thinking::Turn).finish();
        let reading = Reading { conversations: vec![conversation], notes: vec![] };
        let prices = Prices::built_in();
        Inspection::all(path, &reading, TokenCounter::Own, &prices, None).remove(0)
    };
    let fact = |kind: &'static str, text: &str, line| LostFact { kind: kind.into(), text: text.into(), line, path: None };
    let much = CompactionLoss {
        line: 183,
        before_call: 47,
        needed: 1_000,
        encrypted: false,
        in_summary: 380,
        fetched_again: 520,
        own_words: 51,
        user: 9,
        nowhere: 40,
        refetched_tokens: 17_600,
        result_tokens: 51_000,
        predicted_tokens: 24_000,
        nowhere_facts: vec![
            fact("path", "src/main.rs", 201),
            fact("line", "| \u{1b}[31m`x` \u{202e}<b>\u{200f}\n@someone", 240),
            fact("identifier", &"long_name_".repeat(12), 1_240),
        ],
    };
    let nothing = CompactionLoss { line: 310, before_call: 80, encrypted: true, ..CompactionLoss::default() };
    let first = Inspection { compaction_losses: vec![much, nothing], ..empty("runs/a|b\u{1b}.jsonl") };
    [first, empty("runs/c.jsonl")]
}

fn rendered(report: &str, inspections: &[Inspection], width: usize) -> String {
    let style = Style { width, color: false };
    let document = Inspections { conversations: inspections.to_vec(), coverage: Coverage::default() };
    let bytes =
        by_name(report).and_then(|report| report.render(&document, &Layout::full(style))).expect("a report of inspections");
    String::from_utf8(bytes).expect("reports are UTF-8")
}

#[test]
fn inspect_reports_losses_of_compactions() {
    for report in ["table", "markdown", "json"] {
        let text = rendered(report, &inspections(), 100);
        assert_eq!(text.chars().find(|c| *c != '\n' && is_unseen(*c)), None, "{report} lets nothing unseen through");
        // From the first loss on: the lines before it describe the transcripts.
        let begin = text.find(if report == "json" { "\"compaction_losses\"" } else { "What recorded" }).expect("the losses");
        insta::assert_snapshot!(format!("losses-{report}"), &text[begin..]);
    }
}

/// A file may have thousands of conversations and of notes.
#[test]
fn notes_of_a_transcript_are_with_its_first_conversation() {
    let conversation = |name| ConversationBuilder::new(name, "claude-code", Thinking::Turn).finish();
    let notes = vec![Note::info(3, "one"), Note::info(9, "two")];
    let reading = Reading { conversations: ["main", "sidechain-1"].map(conversation).into(), notes };
    let all = Inspection::all("a.jsonl", &reading, TokenCounter::Own, &Prices::built_in(), None);
    assert_eq!(all.iter().map(|one| one.notes.len()).collect::<Vec<_>>(), [2, 0]);
}

#[test]
fn inspect_losses_fit_the_terminal() {
    for width in [60, 80, 100] {
        let table = rendered("table", &inspections(), width);
        let wide: Vec<_> = table.lines().filter(|line| line.chars().count() > width).collect();
        assert!(wide.is_empty(), "{width}: {wide:#?}");
    }
}

#[test]
fn inspect_says_nothing_without_losses() {
    let [_, without] = inspections();
    for report in ["table", "markdown", "json", "csv"] {
        let text = rendered(report, std::slice::from_ref(&without), 100);
        assert!(!text.contains("losses") && !text.contains("lost"), "{text}");
    }
}
