//! `recompact` replays recorded agent conversations through context-compaction policies, offline, and says what each policy
//! saves, what it writes to disk, what it keeps of what the agent went on to use, and what it breaks. It is a cache simulator
//! for context windows: transcripts are the traces, policies are the eviction strategies, later uses are the hits, and a
//! clairvoyant is the bound.
//!
//! # The way of the data
//!
//! ```text
//!  bytes ──format──▶ Conversation (+ notes)      what was said; blocks with ids; never changed again
//!                         │
//!                         ├──sizes (meter, calibrate)──▶ the size of every block by every measure (once per conversation)
//!                         ├──facts, references──▶ which call uses which earlier fact            (once per conversation)
//!  policy.toml ─▶ Policy  │
//!                    ▼    ▼
//!                    replay                      per call: append what is new → each due layer proposes edits →
//!                      │                         the context applies them → the request is measured
//!                      ▼                         (no IO, no clock, no error)
//!                   Journal                      what was sent at each call, what was edited, by which layer
//!                      │
//!                    kept                        every use looked up in what was sent: hit, soft miss, hard miss; the bounds
//!                    cache, cost                 what each request read from the provider's prompt cache, and what that costs
//!                      │
//!                   measure, finding             fn(&Conversation, &Journal, &Kept, &Cost, …) → values of columns; what is wrong
//!                      ▼
//!                   Results ──report──▶ terminal table · JSON · CSV · Markdown · HTML · SARIF · JUnit · GitHub
//! ```
//!
//! [`audit`](mod@audit) looks at saved transcripts as they are: the record replayed, the archives of a session put in
//! order and together, the files that markers name held against the markers.
//!
//! [`study`] runs many transcripts through many policies; [`sweep`] chooses the policies, many variants of one, and says which to
//! take; [`gate`] holds what a study found against limits and a committed baseline. The command line calls them and adds no second
//! way.
//!
//! The [`guide`] is for users of the program: what each number means, how policies are written, what was measured.
//!
//! # The modules, in reading order
//!
//! * [`text`], [`template`]: characters as other languages count them; texts with holes.
//! * [`conversation`]: what was said. [`access`]: what a tool call reads and writes. [`format`](mod@format): the readers, one a format.
//! * [`meter`], [`sizes`]: how big it is, as harnesses and tokenizers see it. [`calibrate`]: as recorded usage tells it.
//! * [`context`]: what the model would see now, the four edits, and what an API would refuse of it.
//! * [`llm`]: models that are asked, and the cassette of their answers: the one module that leaves the process. [`prompt`]: what they
//!   are told.
//! * [`facts`]: what an agent must have word for word, and a summary must not make up.
//! * [`limits`], [`layer`]: what edits, one file a verb. [`summarizer`]: text in place of a span. [`policy`]: layers as data.
//!   [`places`]: the lines of what users wrote in TOML. [`shared`]: what the replays of one conversation find out once.
//! * [`replay`](mod@replay) → [`journal`]: what was sent.
//! * [`references`]: which call uses which earlier fact, and what recorded compactions lost. [`kept`]: what a policy still had of it, and the [bounds](kept::bound).
//! * [`cache`]: a provider's prompt cache, simulated. [`prices`]: what tokens cost, and what recorded calls did. [`cost`]: what a
//!   replay costs, what its edits make the cache write again, and whether the record comes out as it was billed.
//! * [`finding`]: what is wrong with a replay, and where.
//! * [`probe`]: whether a model finds what [`kept`] says is there, and misses what it says is gone.
//! * [`condition`]: what must hold of a column. [`gate`]: suites with limits and tolerances → verdicts, for continuous integration.
//! * [`measure`] → [`column`](mod@column)s, [`values`], [`results`]; [`stats`]: how sure they are; [`inspect`]; [`report`].
//! * [`audit`](mod@audit): what is wrong with saved transcripts and the files beside them.
//!
//! # Invariants
//!
//! 1. A [`conversation::Conversation`] is never changed after it was read. Reading cannot fail half way: what cannot be read is
//!    a note with its line.
//! 2. Only [`context::Context`] edits, and every edit is in the journal: a request is the one before it plus what was appended
//!    and the changes in between; [`journal::Tail`] tells its blocks.
//! 3. Every measure is additive over blocks, so sizes are kept, not computed again; a replay costs what changes.
//! 4. No layer sees what comes later: the journal of the first calls is the first part of the journal, whatever follows. Only
//!    the bounds look ahead, and what is read off the usage of the whole session: how it counts tokens, and how much of a
//!    system prompt stays cached.
//! 5. The same input gives the same bytes, for any number of threads, on any machine: no clock, no host, and no random number without a seed.
//!    The answers of a model are a part of the input: a [cassette](llm::Cassette) holds them.
//! 6. Text from transcripts is hostile: it is escaped where it is shown ([`report::escape`]) and never chooses a path.
//! 7. What is estimated is marked as an estimate ([`column::Column::estimated`]). A session whose record the simulation of the
//!    cache does not reproduce is not priced.
//!
//! # Extending it
//!
//! [`format`](mod@format), [`layer`], [`summarizer`], [`llm`], `policy/*.toml`, `prompt/*.toml`, [`measure`], [`finding`] and
//! [`report`] are the extension points: a member is one file, its `mod` line and one row of a `const` table ([`format::FORMATS`],
//! [`layer::ACTS`], [`summarizer::SUMMARIZERS`], [`llm::PROTOCOLS`], [`policy::PRESETS`], [`prompt::PROMPTS`], [`measure::MEASURES`],
//! [`finding::FINDINGS`], [`report::REPORTS`]). So are the marks that harnesses leave ([`audit::markers::MARKERS`]) and what secrets
//! look like ([`audit::secrets::RULES`]): a row each.

pub mod analysis;
pub mod engine;
pub mod facts;
pub mod findings;
pub mod guide;
pub mod llm;
pub mod metrics;
pub mod report;
pub mod results;
pub mod tokens;
pub mod transcript;
pub mod util;
