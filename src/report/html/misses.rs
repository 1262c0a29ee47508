//! Hard misses, with what stood around the fact where the agent had it from.

use super::super::table_model::common_folder;
use super::super::{escape, number_format};
use super::series::PolicySeries;
use crate::results::saved::{MissRow, Results};
use crate::util::text::plural;

/// Misses of all policies together, each under its policy.
pub fn all(results: &Results, cast: &PolicySeries) -> String {
    let folder = common_folder(results.misses.iter().map(|miss| miss.transcript.as_str()));
    let mut policies: Vec<&str> = Vec::new();
    for miss in &results.misses {
        if !policies.contains(&miss.policy.as_str()) {
            policies.push(&miss.policy);
        }
    }
    let recommended = results.sweep.as_ref().and_then(|sweep| Some(sweep.recommended.as_ref()?.policy.as_str()));
    let of = |policy: &&str| {
        let own: Vec<&MissRow> = results.misses.iter().filter(|miss| miss.policy == *policy).collect();
        let list = list(&own, cast, folder);
        format!(
            r#"<details class="missed"{}{}><summary><bdi>{}</bdi> <small>{}</small></summary>{list}</details>"#,
            cast.tag(policy),
            if policies.len() <= 4 || recommended == Some(*policy) { " open" } else { "" },
            escape::html(policy),
            plural(own.len(), "miss").replace("misss", "misses"),
        )
    };
    policies.iter().map(of).collect()
}

/// `within` is left out of the paths: a folder, or the whole transcript.
pub fn list(misses: &[&MissRow], cast: &PolicySeries, within: &str) -> String {
    let items: String = misses.iter().map(|miss| item(miss, cast, within)).collect();
    format!(r#"<ol class="misses">{items}</ol>"#)
}

fn item(miss: &MissRow, cast: &PolicySeries, within: &str) -> String {
    let path = miss.transcript.strip_prefix(within).filter(|path| !path.is_empty());
    let place = path.map_or(format!("line {}", miss.line), |path| format!("{path}:{}", miss.line));
    let stale = if miss.stale { "; its file is in sight, but was written since" } else { "" };
    let taken = match (&miss.layer, miss.lost_at) {
        (Some(layer), Some(call)) => format!("taken by {layer} before call {}{stale}", number_format::grouped(call as f64, 0)),
        (Some(layer), None) => format!("taken by {layer}{stale}"),
        _ => stale.trim_start_matches("; ").to_owned(),
    };
    let more = if miss.more > 0 {
        format!(", with {} of the same origin", plural(miss.more as usize, "other fact"))
    } else {
        String::new()
    };
    let told = format!(
        "needed at call {} ({place}), {}{more}",
        number_format::grouped(miss.call as f64, 0),
        plural(miss.uses as usize, "use"),
    );
    let lines: Vec<String> = [told, taken].iter().filter(|line| !line.is_empty()).map(|line| escape::html(line)).collect();
    let context = match miss.context.as_str() {
        "" => String::new(),
        context => format!(r#"<pre tabindex="0">{}</pre>"#, marked(context, &miss.fact)),
    };
    format!(
        r#"<li{}><p class="fact"><bdi><code>{}</code></bdi> <small>{} · {}</small></p>{context}<p class="told"><bdi>{}</bdi></p></li>"#,
        cast.tag(&miss.policy),
        escape::html(&miss.fact),
        escape::html(&miss.kind),
        escape::html(&format!("from {}, line {}", miss.origin, miss.origin_line)),
        lines.join("; "),
    )
}

/// The context with the fact in it marked.
fn marked(context: &str, fact: &str) -> String {
    match context.split_once(fact).filter(|_| !fact.is_empty()) {
        Some((before, after)) => format!("{}<mark>{}</mark>{}", lines(before), lines(fact), lines(after)),
        None => lines(context),
    }
}

/// Lines of a text; the break at its end is one too.
fn lines(text: &str) -> String {
    text.split('\n').map(|line| escape::html(&line.trim_end_matches('\r').replace('\t', "    "))).collect::<Vec<_>>().join("\n")
}
