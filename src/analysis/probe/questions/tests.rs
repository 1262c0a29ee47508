use super::super::choose::choose;
use super::super::tests::used;
use super::*;

/// Returns uses at one request; `hhm` means two hits and a miss.
fn uses(policy: &str, transcript: &str, call: u32, questions: &str) -> Vec<SampledUse<Hint>> {
    let hint = Hint { line: 1, cloze: Cloze { line: String::new(), answer: String::new() } };
    let outcome = |side| if side == 'h' { Outcome::InContext } else { Outcome::Recoverable };
    questions.chars().map(|side| used(policy, transcript, call, outcome(side), hint.clone())).collect()
}

/// Describes the chosen uses of every request: policy, transcript and the sides.
fn chosen(requests: &[(&str, &str, &str)], questions: usize) -> String {
    let all = (0..).zip(requests).flat_map(|(call, (policy, transcript, asked))| uses(policy, transcript, call, asked));
    let chosen = choose::<Questions>(all.collect(), &Plan { questions, max_context: 0, seed: 1 });
    let side = |used: &SampledUse<Hint>| if used.outcome.is_gone() { 'm' } else { 'h' };
    let text = |uses: &[SampledUse<Hint>]| {
        format!("{}/{}:{}", uses[0].policy, uses[0].transcript, uses.iter().map(side).collect::<String>())
    };
    chosen.chunk_by(SampledUse::is_beside).map(text).collect::<Vec<_>>().join(" ")
}

#[test]
fn half_of_the_questions_are_hits_if_possible() {
    let cases = [
        ("hhhmmm", 6, "p/a:hhhmmm"),
        ("hhhmmm", 4, "p/a:hhmm"),
        ("hhhm", 4, "p/a:hhhm"),
        ("hmmm", 4, "p/a:hmmm"),
        ("hmmm", 3, "p/a:hmm"),
        ("hhh", 2, "p/a:hh"),
        ("hhh", 9, "p/a:hhh"),
        ("", 9, ""),
    ];
    for (asked, questions, expected) in cases {
        assert_eq!(chosen(&[("p", "a", asked)], questions), expected, "{questions} of {asked}");
    }
}

#[test]
fn questions_alternate_sessions_and_prefer_best_requests() {
    let requests = [("p", "a", "hm"), ("p", "a", "hhmm"), ("p", "b", "hm"), ("p", "b", "hhmm")];
    assert_eq!(chosen(&requests, 8), "p/a:hhmm p/b:hhmm");
    assert_eq!(chosen(&requests, 12), "p/a:hm p/a:hhmm p/b:hm p/b:hhmm");
}

#[test]
fn questions_are_divided_among_policies() {
    let requests = [("p", "a", "hhmm"), ("q", "a", "hhmm"), ("q", "b", "hhmm")];
    let asked = |questions: usize| {
        let chosen = chosen(&requests, questions);
        let count =
            |policy: &str| chosen.split(' ').filter_map(|request| Some(request.strip_prefix(policy)?.len() - "/a:".len())).sum();
        let both: [usize; 2] = ["p", "q"].map(count);
        both
    };
    assert_eq!([asked(4), asked(5), asked(9)], [[2, 2], [3, 2], [4, 4]]);
}
