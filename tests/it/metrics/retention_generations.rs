//! Checks the number of summaries between a fact and its use.

use recompact::engine::policy::Policy;
use recompact::metrics::retention::Retention;

use crate::metrics::retention_page::looked_up;
use crate::support::notation;
use crate::support::trial::Trial;

/// Result 1 names all facts; before calls 4, 7, 10, … everything becomes the same summary.
fn kept(summary: &str, uses: &[(usize, &str)]) -> Retention {
    let toml =
        format!("name = \"p\"\n[[layer]]\nid = \"auto\"\ndo = \"summarize\"\nwhen = {{ calls = 3 }}\ntemplate = \"{summary}\"");
    let trial = Trial::new(Policy::parse(&toml, "p", &[]).unwrap_or_else(|error| panic!("{error}")));
    let mut text = "user: Look around\n".to_owned();
    for call in 1..=17 {
        let said: Vec<_> = uses.iter().filter(|(at, _)| *at == call).map(|(_, fact)| *fact).collect();
        let result = if call == 1 { "a_vane b_vane c_vane d_vane e_vane f_vane" } else { "made" };
        text += &format!("assistant: I call {} [Bash#{call} make]\nresult#{call}: {result}\n", said.join(" and "));
    }
    looked_up(&notation::parse(&text).expect("a conversation"), &trial).1
}

fn uses(kept: &Retention) -> [u64; 5] {
    kept.by_generation.map(|share| share.uses)
}

#[test]
fn generation_counts_summaries_up_to_the_use() {
    let all = [(3, "a_vane"), (4, "b_vane"), (7, "c_vane"), (10, "d_vane"), (13, "e_vane"), (16, "f_vane")];
    let kept = kept("So far: b_vane d_vane e_vane", &all);
    assert_eq!(uses(&kept), [1, 1, 1, 1, 2]);
    let [none, first, second, third, more] = kept.by_generation;
    assert_eq!((none.hit, none.hit_summary), (none.weight, 0.0), "result 1 is there");
    assert_eq!((first.hit_summary, second.hard, third.hit_summary), (first.weight, second.weight, third.weight));
    assert_eq!((more.hit, more.hard), (more.weight / 2.0, more.weight / 2.0), "e_vane is kept, f_vane is not");
}

#[test]
fn repeated_fact_starts_at_generation_zero() {
    let kept = kept("So far", &[(4, "a_vane"), (6, "a_vane"), (8, "a_vane"), (11, "a_vane")]);
    // The first summary loses the fact; call 4 repeats it, so call 6 has it; it is lost before call 7, and again before call 10.
    assert_eq!(uses(&kept), [1, 3, 0, 0, 0]);
    assert_eq!(kept.by_generation[0].hit, kept.by_generation[0].weight);
    assert_eq!(kept.by_generation[1].hard, kept.by_generation[1].weight);
}
