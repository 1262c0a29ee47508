use super::*;
use crate::analysis::spec::PolicySource;
use crate::analysis::study::KnownWindow;
use crate::analysis::study::{SessionSize, TranscriptSize};
use crate::analysis::sweep::candidate::candidates;
use crate::analysis::sweep::sessions::alone;
use crate::analysis::sweep::space::spaces;
use crate::metrics::column::Column;
use crate::metrics::metric::{broken, cost};

const POLICY: &str = "name = \"own\"\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\nkeep_recent = 50\n";

/// Twenty configurations, which keep 1 to 20 results, and the original, which keeps 50. Only their cost is asked. Session n has n + 1
/// calls; the sessions 0 to 3 are there to develop on, and 4 is held out.
fn search() -> (Search, SessionTable) {
    let source = PolicySource { origin: "own.toml".to_owned(), text: POLICY.to_owned() };
    let varied = "micro.keep_recent=1..20".parse().expect("a parameter");
    let spaces = spaces(&[source], &[varied]).expect("a space");
    let (candidates, spaces) = candidates(spaces, "keep-all", None, 1).expect("a grid");
    let criteria = Criteria::new(&[cost::USD.to_owned()], &[], Vec::new()).expect("one objective");
    let split = Split { develop: [0, 1, 2, 3].map(SessionId).to_vec(), held_out: vec![SessionId(4)] };
    let transcript = |n: u64| TranscriptSize {
        transcript: format!("{n}.jsonl"),
        conversations: vec![SessionSize {
            conversation: "main".to_owned(),
            kin: alone(&format!("{n}.jsonl"), "main"),
            calls: n + 1,
            is_compacted: false,
            window: KnownWindow::default(),
        }],
        call_hashes: Vec::new(),
    };
    let table = SessionTable::new(&(0..5).map(transcript).collect::<Vec<_>>());
    (Search::new(candidates, spaces, Vec::new(), criteria, split, true, 1), table)
}

fn results_kept(policy: &Policy) -> f64 {
    policy.name.rsplit_once('=').map_or(50.0, |(_, kept)| kept.parse().expect("a number"))
}

/// A policy costs a dollar for each result that it keeps. The one that keeps 1 also breaks all requests of the held-out session.
fn added(policy: &Policy, session: SessionId, columns: &[Column]) -> Vec<Option<Accumulator>> {
    let kept = results_kept(policy);
    let value = |column: &Column| match column.id.as_ref() {
        cost::USD => Some(kept),
        broken::CAUSED if session == SessionId(4) => Some(if kept == 1.0 { 5.0 } else { 0.0 }),
        _ => None,
    };
    let accumulator = |numerator| Accumulator { numerator, denominator: 1.0 };
    columns.iter().map(|column| value(column).map(accumulator)).collect()
}

/// Runs all rounds; returns for each the sessions and the number of policies.
fn run(search: &mut Search, table: &SessionTable) -> Vec<(Vec<usize>, usize)> {
    let mut rounds = Vec::new();
    while let Some(Round { sessions, policies, .. }) = search.next_round() {
        let mut sessions: Vec<SessionId> = sessions.into_iter().collect();
        sessions.sort_unstable();
        let columns = search.criteria().columns.clone();
        let of_session = |session| policies.iter().map(|policy| added(policy, session, &columns)).collect::<Vec<_>>();
        let totals: Vec<_> = sessions.iter().map(|session| (*session, of_session(*session))).collect();
        search.record_totals(table, totals.iter().map(|(session, added)| (*session, added.as_slice())));
        rounds.push((sessions.into_iter().map(|session| session.0).collect(), policies.len()));
    }
    rounds
}

#[test]
fn search_drops_the_worse_half_and_counts_calls() {
    let (mut search, table) = search();
    let expected_calls = search.policy_calls(&table);
    assert_eq!(run(&mut search, &table), [(vec![0, 1], 21), (vec![2, 3], 11), (vec![4], 11)]);
    let sweep = search.finish().sweep;
    assert_eq!(sweep.rounds.iter().map(|rung| (rung.sessions, rung.configurations)).collect::<Vec<_>>(), [(2, 21), (4, 11)]);
    let calls = (1 + 2) * 21 + (3 + 4) * 11 + 5 * 11;
    assert_eq!((expected_calls, sweep.policy_calls), (calls, calls));
    // The original, then those that keep 1 to 10, then the dropped ones.
    let tried: Vec<usize> = sweep.configurations.iter().map(|row| row.sessions).collect();
    assert_eq!(tried, [[4; 11].as_slice(), &[2; 10]].concat());
    let costs: Vec<_> = sweep.configurations.iter().map(|row| row.values.get(cost::USD)).collect();
    assert_eq!([costs[0], costs[2], costs[20]], [Some(200.0), Some(8.0), Some(40.0)]);
}

#[test]
fn conditions_also_hold_on_the_held_out_sessions() {
    let (mut search, table) = search();
    run(&mut search, &table);
    let SearchResult { sweep, policies, .. } = search.finish();
    let names = |is_listed: fn(&crate::results::saved::ConfigurationRow) -> bool| {
        sweep.configurations.iter().filter(|row| is_listed(row)).map(|row| row.policy.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(names(|row| !row.allowed), ["own micro.keep_recent=1"]);
    assert_eq!(names(|row| row.front), ["own micro.keep_recent=2"]);
    assert_eq!(sweep.recommended.map(|best| best.policy).as_deref(), Some("own micro.keep_recent=2"));
    assert_eq!(policies.iter().map(results_kept).collect::<Vec<_>>(), [50.0, 2.0]);
    assert_eq!(sweep.nearest, None);
}
