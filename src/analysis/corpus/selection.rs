//! Which conversations are analysed: by time, project and model.

use jiff::civil::Date;
use jiff::{Span, tz::TimeZone};

use super::ReadSpec;
use crate::transcript::conversation::Conversation;
use crate::util::ValueError;

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// The conversations that are analysed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// First day, as its first millisecond since 1970 in UTC.
    since: Option<i64>,
    /// Last day, as the first millisecond after it.
    until: Option<i64>,
    project: Option<String>,
    model: Option<String>,
}

impl Selection {
    /// Returns the selection that a description asks for.
    ///
    /// # Errors
    ///
    /// Fails if a day is not written as `2026-10-01`.
    pub fn new(read: &ReadSpec) -> Result<Self, ValueError> {
        let first = |day: &String| Ok::<_, ValueError>(milliseconds(parse_day(day)?));
        let lower = |text: &String| text.to_lowercase();
        Ok(Self {
            since: read.since.as_ref().map(first).transpose()?,
            until: read.until.as_ref().map(first).transpose()?.map(|day| day + DAY),
            project: read.project.as_ref().map(lower),
            model: read.model.as_ref().map(lower),
        })
    }

    /// Whether a conversation is analysed. One without times is not if a day is asked for, as are one without a project or model.
    pub fn takes(&self, conversation: &Conversation) -> bool {
        let times = || conversation.messages.iter().filter_map(|message| message.time);
        let holds = |text: &str, wanted: &str| text.to_lowercase().contains(wanted);
        let models = || conversation.calls.iter().filter_map(|call| call.model.as_deref());
        self.since.is_none_or(|since| times().any(|time| time >= since))
            && self.until.is_none_or(|until| times().any(|time| time < until))
            && self.project.as_ref().is_none_or(|wanted| conversation.project.as_ref().is_some_and(|path| holds(path, wanted)))
            && self.model.as_ref().is_none_or(|wanted| models().any(|model| holds(model, wanted)))
    }
}

fn milliseconds(day: Date) -> i64 {
    day.to_zoned(TimeZone::UTC).map_or(0, |day| day.timestamp().as_millisecond())
}

fn parse_day(written: &str) -> Result<Date, String> {
    written.parse().map_err(|_| format!("`{written}` is not a day: write one such as 2026-10-01"))
}

/// Returns a day as a description holds it: `2026-10-01` as it is, `7d` or `2w` as the day so long before today.
///
/// # Errors
///
/// Fails if it is neither.
pub fn day(written: &str, today: Date) -> Result<String, ValueError> {
    let (number, unit) = written.split_at(written.len() - written.chars().last().map_or(0, char::len_utf8));
    let days = match (number.parse::<u16>(), unit) {
        (Ok(days), "d") => i64::from(days),
        (Ok(weeks), "w") => i64::from(weeks) * 7,
        _ => return parse_day(written).map(|day| day.to_string()).map_err(|why| ValueError::new(why + ", 7d or 2w")),
    };
    let before = today.checked_sub(Span::new().days(days));
    before.map(|day| day.to_string()).map_err(|_| ValueError::new(format!("`{written}` is too long ago")))
}

/// Returns today in UTC, for [`day`].
pub fn today() -> Date {
    jiff::Timestamp::now().to_zoned(TimeZone::UTC).date()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::format::{ReadOptions, by_name};

    /// A session of `/home/ann/Shop` on 2026-10-01.
    const SESSION: &str = r#"{"type":"user","uuid":"u","sessionId":"s","timestamp":"2026-10-01T08:00:00Z","cwd":"/home/ann/Shop","message":{"role":"user","content":"Go"}}
{"type":"assistant","uuid":"a","parentUuid":"u","sessionId":"s","timestamp":"2026-10-01T23:59:59Z","cwd":"/tmp","message":{"id":"m","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"Done."}]}}
"#;

    fn takes(since: Option<&str>, until: Option<&str>, project: Option<&str>, model: Option<&str>) -> bool {
        let mut read = ReadSpec::default();
        [read.since, read.until, read.project, read.model] = [since, until, project, model].map(|text| text.map(str::to_owned));
        let format = by_name("claude-code").expect("a format");
        let reading = (format.read)(SESSION.as_bytes(), &ReadOptions::default());
        Selection::new(&read).expect("a selection").takes(&reading.conversations[0])
    }

    #[test]
    fn days_include_their_whole_day() {
        assert!(takes(Some("2026-10-01"), Some("2026-10-01"), None, None));
        assert!(!takes(Some("2026-10-02"), None, None, None));
        assert!(!takes(None, Some("2026-09-30"), None, None));
    }

    #[test]
    fn project_and_model_are_parts_of_names_in_any_case() {
        assert!(takes(None, None, Some("ann/shop"), Some("Opus")));
        assert!(!takes(None, None, Some("bob"), None) && !takes(None, None, None, Some("sonnet")));
    }

    #[test]
    fn days_may_be_counted_back_from_today() {
        let today: Date = "2026-03-03".parse().expect("a day");
        let written = |text: &str| day(text, today);
        assert_eq!(written("7d"), Ok("2026-02-24".to_owned()));
        assert_eq!(written("2w"), Ok("2026-02-17".to_owned()));
        assert_eq!(written("2026-01-31"), Ok("2026-01-31".to_owned()));
        for wrong in ["", "d", "7", "7 days", "2026-13-01", "é"] {
            let why = format!("`{wrong}` is not a day: write one such as 2026-10-01, 7d or 2w");
            assert_eq!(written(wrong), Err(ValueError::new(why)));
        }
    }
}
