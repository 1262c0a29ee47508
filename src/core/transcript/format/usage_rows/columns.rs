//! The columns of a log of usage, found by their names in any order.
//!
//! Names are compared without case and punctuation: `cacheReadInputTokens` is `cache_read_input_tokens`. Whether the input holds the
//! cached tokens follows from the names alone: Anthropic's `input_tokens` is beside them, OpenAI's `prompt_tokens` and `input_tokens`
//! hold them. Names that do not say it are refused.

use super::super::batch::Stamp;
use crate::transcript::conversation::Usage;

const SESSION: &[&str] = &["sessionid", "session", "conversationid", "threadid"];
const AGENT: &[&str] = &["agentid", "subagentid"];
/// `startTime` is of LiteLLM's spend logs.
const TIME: &[&str] = &["timestamp", "time", "createdat", "starttime", "datetime"];
const MODEL: &[&str] = &["model", "modelname", "modelid"];
const OUTPUT: &[&str] = &["outputtokens", "completiontokens", "output"];
const REASONING: &[&str] = &["reasoningtokens", "reasoningoutputtokens"];
const MESSAGE: &[&str] = &["messageid"];
const REQUEST: &[&str] = &["requestid"];
const WRITTEN_1H: &[&str] = &["ephemeral1hinputtokens", "cachewrite1htokens"];

/// All tokens of the request. `prompt_tokens` is so in every API that has it.
const WITH_CACHED: &[&str] = &["totalinputtokens", "prompttokens"];
/// The tokens beside the cached ones. `uncached_input_tokens` is of Anthropic's usage reports.
const WITHOUT_CACHED: &[&str] = &["uncachedinputtokens"];
/// One of both, as the columns beside it say.
const INPUT: &[&str] = &["inputtokens"];
/// Input whose meaning no column says.
const UNCLEAR: &[&str] = &["input", "tokensin"];

/// Cached tokens as Anthropic's API names them.
const ANTHROPIC_READ: &str = "cachereadinputtokens";
const ANTHROPIC_WRITTEN: &str = "cachecreationinputtokens";
/// Cached tokens as OpenAI names them: the details of the Responses API, Codex, usage reports.
const OPENAI_READ: [&str; 3] = ["cachedtokens", "cachedinputtokens", "inputcachedtokens"];

const READ: &[&str] = &[ANTHROPIC_READ, OPENAI_READ[0], OPENAI_READ[1], OPENAI_READ[2], "cachereadtokens", "cacheread"];
const WRITTEN: &[&str] = &[ANTHROPIC_WRITTEN, "cachewriteinputtokens", "cachecreationtokens", "cachewritetokens", "cachewrite"];

/// Where each value of a row is.
pub struct Columns {
    session: usize,
    agent: Option<usize>,
    time: usize,
    model: Option<usize>,
    input: usize,
    includes_cached: bool,
    cache_read: Option<usize>,
    cache_write: Option<usize>,
    cache_write_1h: Option<usize>,
    output: usize,
    reasoning: Option<usize>,
    message: Option<usize>,
    request: Option<usize>,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Line of the file, from 1.
    pub line: u32,
    pub session: String,
    /// The agent that made the call, if the log has a column for it.
    pub agent: Option<String>,
    pub model: Option<String>,
    /// Milliseconds since 1970.
    pub time: i64,
    pub usage: Usage,
    pub message: Option<String>,
    pub request: Option<String>,
}

/// Names of columns that are no log of usage: a vocabulary has its words beside those of a log, and punctuation.
fn are_words(header: &[String]) -> bool {
    header.iter().any(|name| !name.chars().any(char::is_alphanumeric))
}

/// Returns whether columns of these names are those of a log of usage, readable or not.
pub fn are_usage(header: &[String]) -> bool {
    let names = Names::new(header);
    let input = [WITH_CACHED, WITHOUT_CACHED, INPUT, UNCLEAR];
    !are_words(header)
        && [SESSION, TIME, OUTPUT].into_iter().all(|known| names.find(known).is_some())
        && input.into_iter().any(|known| names.find(known).is_some())
}

impl Columns {
    /// Finds the columns.
    ///
    /// # Errors
    ///
    /// Fails with what is missing, or with the column whose meaning its name does not say.
    pub(super) fn find(header: &[String]) -> Result<Self, String> {
        let names = Names::new(header);
        let needed =
            |known: &[&str], what: &str| names.find(known).ok_or_else(|| format!("a log of usage needs the column `{what}`"));
        let (session, time) = (needed(SESSION, "session_id")?, needed(TIME, "timestamp")?);
        let output = needed(OUTPUT, "output_tokens")?;
        let (cache_read, cache_write) = (names.find(READ), names.find(WRITTEN));
        let (input, includes_cached) = names.input()?;
        if !includes_cached && (cache_read.is_none() || cache_write.is_none()) {
            let (column, missing) = (&header[input], if cache_read.is_none() { ANTHROPIC.0 } else { ANTHROPIC.1 });
            return Err(format!("`{column}` is without the cached tokens, so the log needs the column `{missing}`"));
        }
        Ok(Self {
            session,
            agent: names.find(AGENT),
            time,
            model: names.find(MODEL),
            input,
            includes_cached,
            cache_read,
            cache_write,
            cache_write_1h: names.find(WRITTEN_1H),
            output,
            reasoning: names.find(REASONING),
            message: names.find(MESSAGE),
            request: names.find(REQUEST),
        })
    }

    /// Whether the log says which tokens were read from the prompt cache.
    pub fn has_cache(&self) -> bool {
        self.cache_read.is_some()
    }

    /// Reads a row from its cells.
    ///
    /// # Errors
    ///
    /// Fails with what is wrong in it.
    pub(super) fn row(&self, line: u32, cells: &[String], header: &[String]) -> Result<Row, String> {
        let text =
            |column: Option<usize>| column.and_then(|at| cells.get(at)).map(|cell| cell.trim()).filter(|cell| !cell.is_empty());
        let wrong = |at: usize, what: &str| {
            let cell = crate::util::text::head(text(Some(at)).unwrap_or_default(), 40);
            format!("`{}` is `{cell}`, which is no {what}", header[at])
        };
        let tokens = |at: usize| number(text(Some(at)).unwrap_or_default()).ok_or_else(|| wrong(at, "number of tokens"));
        // An empty cell of the cache is of a provider or a call without one.
        let cached = |column: Option<usize>| text(column).and(column).map_or(Ok(0), tokens);
        let session = text(Some(self.session)).ok_or_else(|| format!("`{}` is empty", header[self.session]))?;
        let time = time(text(Some(self.time)).unwrap_or_default()).ok_or_else(|| wrong(self.time, "time"))?;
        let (recorded, output) = (tokens(self.input)?, tokens(self.output)?);
        let (cache_read, written, written_1h) =
            (cached(self.cache_read)?, cached(self.cache_write)?, cached(self.cache_write_1h)?);
        let inclusive = self.includes_cached.then_some(cache_read + written);
        let input = recorded.checked_sub(inclusive.unwrap_or(0)).ok_or_else(|| {
            format!("`{}` is {recorded}, which is less than the {} cached tokens in it", header[self.input], cache_read + written)
        })?;
        let cache_write_5m = written.checked_sub(written_1h).ok_or("more tokens are written for an hour than at all")?;
        let reasoning = text(self.reasoning).and(self.reasoning).map(tokens).transpose()?;
        let usage = Usage { input, cache_read, cache_write_5m, cache_write_1h: written_1h, output, reasoning };
        if !usage.is_possible() {
            return Err(format!("no model has a context of {} tokens or more", usage.request().max(output)));
        }
        let owned = |column: Option<usize>| text(column).map(str::to_owned);
        Ok(Row {
            line,
            session: session.to_owned(),
            agent: owned(self.agent),
            model: owned(self.model),
            time,
            usage,
            message: owned(self.message),
            request: owned(self.request),
        })
    }
}

/// The names of Anthropic's columns for the messages of a refusal: read and written.
const ANTHROPIC: (&str, &str) = ("cache_read_input_tokens", "cache_creation_input_tokens");

/// The names of columns without case and punctuation.
struct Names<'a> {
    header: &'a [String],
    plain: Vec<String>,
}

impl<'a> Names<'a> {
    fn new(header: &'a [String]) -> Self {
        let plain = |name: &String| name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
        Self { header, plain: header.iter().map(plain).collect() }
    }

    /// Returns the column with the first of these names that there is.
    fn find(&self, known: &[&str]) -> Option<usize> {
        known.iter().find_map(|known| self.plain.iter().position(|name| name == known))
    }

    /// Returns the column of the input, and whether it holds the cached tokens.
    fn input(&self) -> Result<(usize, bool), String> {
        if let Some(at) = self.find(WITH_CACHED) {
            return Ok((at, true));
        }
        if let Some(at) = self.find(WITHOUT_CACHED) {
            return Ok((at, false));
        }
        let is_anthropic = self.find(&[ANTHROPIC_READ, ANTHROPIC_WRITTEN]).is_some();
        match (self.find(INPUT), is_anthropic, self.find(&OPENAI_READ).is_some()) {
            (Some(at), true, false) => return Ok((at, false)),
            (Some(at), false, true) => return Ok((at, true)),
            _ => {}
        }
        let unclear = self.find(INPUT).or(self.find(UNCLEAR)).ok_or("a log of usage needs the column `total_input_tokens`")?;
        Err(format!(
            "the column `{}` does not say whether the cached tokens are in it: name it `total_input_tokens` if they are, or else \
             `uncached_input_tokens`",
            self.header[unclear]
        ))
    }
}

/// Reads a number of tokens; tables of floats write `12.0`.
fn number(text: &str) -> Option<u64> {
    let text = text.strip_suffix(".0").unwrap_or(text);
    text.parse().ok().filter(|tokens| u32::try_from(*tokens).is_ok())
}

/// Numbers below this are seconds since 1970 (until 5138), others milliseconds (since 1973).
const MILLISECONDS: f64 = 1e11;

/// Reads a time: as text, or as seconds or milliseconds since 1970.
fn time(text: &str) -> Option<i64> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..1e15).contains(&number) => {
            Some(if number < MILLISECONDS { number * 1e3 } else { number }.round() as i64)
        }
        Ok(_) => None,
        Err(_) => Stamp::parsed(1, Some(text)).time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &str) -> Vec<String> {
        names.split(' ').map(str::to_owned).collect()
    }

    /// Returns input, cache read and cache written of a row, or why it or its header is refused.
    fn read(names: &str, cells: &str) -> Result<[u64; 3], String> {
        let header = header(&format!("Session-ID TIME outputTokens {names}"));
        let row = Columns::find(&header)?.row(2, &self::header(&format!("s 1700000000 7 {cells}")), &header)?;
        Ok([row.usage.input, row.usage.cache_read, row.usage.cache_write_5m])
    }

    #[test]
    fn the_names_say_whether_the_input_holds_the_cached_tokens() {
        assert_eq!(read("input_tokens cache_read_input_tokens cache_creation_input_tokens", "9 80 20"), Ok([9, 80, 20]));
        assert_eq!(read("inputTokens cacheReadInputTokens cacheCreationInputTokens", "9 80 20"), Ok([9, 80, 20]));
        assert_eq!(read("uncached_input_tokens cache_read_tokens cache_write_tokens", "9 80 20"), Ok([9, 80, 20]));
        assert_eq!(read("input_tokens cached_input_tokens", "100 60"), Ok([40, 60, 0]));
        assert_eq!(read("prompt_tokens cache_read_input_tokens", "100 60"), Ok([40, 60, 0]));
        assert_eq!(read("total_input_tokens cache_read cache_write", "100.0 60 10"), Ok([30, 60, 10]));
        assert_eq!(read("prompt_tokens", "100"), Ok([100, 0, 0]));
    }

    #[test]
    fn names_that_do_not_say_it_are_refused() {
        let why = |names: &str| read(names, "1 1 1").expect_err("a refusal");
        for (names, named) in [
            ("input cache_read cache_write", "`input` does not say"),
            ("input_tokens", "`input_tokens` does not say"),
            ("inputTokens cacheReadTokens cacheWriteTokens", "`inputTokens` does not say"),
            ("input_tokens cached_tokens cache_creation_input_tokens", "`input_tokens` does not say"),
            ("input_tokens cache_read_input_tokens", "needs the column `cache_creation_input_tokens`"),
            ("uncached_input_tokens cache_creation_tokens", "needs the column `cache_read_input_tokens`"),
            ("cost", "needs the column `total_input_tokens`"),
        ] {
            assert!(why(names).contains(named), "{names}: {}", why(names));
        }
        assert!(
            Columns::find(&header("timestamp prompt_tokens output_tokens")).err().is_some_and(|why| why.contains("`session_id`"))
        );
    }

    #[test]
    fn what_is_wrong_in_a_row_is_named() {
        let why = |cells: &str| read("prompt_tokens cached_tokens", cells).expect_err("a refusal");
        assert_eq!(why("many 1"), "`prompt_tokens` is `many`, which is no number of tokens");
        assert_eq!(why("-5 1"), "`prompt_tokens` is `-5`, which is no number of tokens");
        assert_eq!(why("5 9"), "`prompt_tokens` is 5, which is less than the 9 cached tokens in it");
        assert_eq!(why("99999999 9"), "no model has a context of 99999999 tokens or more");
        assert_eq!(why(""), "`prompt_tokens` is ``, which is no number of tokens");
    }

    #[test]
    fn times_are_texts_or_numbers() {
        let at = Some(1_764_244_800_000);
        for text in ["2025-11-27T12:00:00Z", "2025-11-27 12:00:00", "2025-11-27T13:00:00+01:00", "1764244800", "1764244800000"] {
            assert_eq!(time(text), at, "{text}");
        }
        for text in ["", "noon", "-1", "nan", "1e300"] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
