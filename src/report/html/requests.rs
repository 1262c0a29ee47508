//! Requests on the page: those in which the policy of the answer missed a fact, as `recompact show` prints them. Each is packed until its
//! call is shown.

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::number_format;
use super::super::show::{heading, recorded_lines, sent_lines};
use super::numbers::Numbers;
use super::series::PolicySeries;
use crate::results::request::{PartState, ShownPart, ShownRequest};
use crate::results::saved::Results;
use crate::util::text::{are, plural};

/// Most bytes of all requests together, before they are packed to a fifth: two or three of usual sessions.
const MAX_BYTES: usize = 250_000;

/// The packed requests, and a sentence that says which they are.
pub fn draw(results: &Results, series: &PolicySeries) -> (Markup, String) {
    let numbers = Numbers::new(results);
    let mut bytes = 0;
    let drawn = results.requests.iter().filter_map(|request| {
        let conversation = numbers.of(&request.transcript, &request.conversation)?;
        let policy = series.index_of(&request.policy)?;
        let markup = of_request(request);
        let fits = bytes + markup.0.len() <= MAX_BYTES;
        bytes += if fits { markup.0.len() } else { 0 };
        fits.then(|| (format!("{conversation} {} {policy}", request.call), markup))
    });
    let drawn: Vec<(String, Markup)> = drawn.collect();
    let packed = html! {
        @for (key, markup) in &drawn {
            script type="text/plain" class="request" data-key=(key) { (super::pack(markup.0.as_bytes())) }
        }
    };
    let policy = results.requests.first().map_or("", |request| series.roles.label(&request.policy));
    let sentence = match drawn.len() {
        0 => "The requests are not on this page.".to_owned(),
        1 => format!("Of all requests, this page holds one, in which {policy} missed a fact."),
        count => format!("Of all requests, this page holds {count}, in which {policy} missed facts."),
    };
    (packed, sentence)
}

fn of_request(request: &ShownRequest) -> Markup {
    let changed = request.parts.iter().filter(|part| part.state != PartState::Recorded).count();
    html! {
        p {
            (number_format::count(request.tokens)) " tokens in " (plural(request.messages, "message")) "; "
            (changed) " of " (plural(request.parts.len(), "part")) " " (are(changed)) " not as recorded."
            @if request.overflows { " It does not fit the context window." }
        }
        @for part in &request.parts { (of_part(part)) }
    }
}

fn of_part(part: &ShownPart) -> Markup {
    let lines = |class: &str, lines: Vec<String>| {
        let lines: Vec<_> = lines.iter().map(|line| terminal(line)).collect();
        html! { @if !lines.is_empty() { pre class=(class) { (lines.join("\n")) } } }
    };
    html! {
        div class={ "part-of " (state(part.state)) } {
            p { bdi { (terminal(&heading(part))) } }
            (lines("sent", sent_lines(part)))
            (lines("was", recorded_lines(part)))
        }
    }
}

/// The CSS class of a part.
fn state(state: PartState) -> &'static str {
    match state {
        PartState::Recorded => "as-recorded",
        PartState::Rewritten => "rewritten",
        PartState::Inserted => "inserted",
        PartState::Removed => "removed",
    }
}
