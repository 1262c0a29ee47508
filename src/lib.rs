//! `recompact` replays recorded agent conversations through context-compaction policies.
//!
//! It runs offline. For each policy it reports the tokens and the money saved, the bytes written to disk, the share of later-used
//! facts that stay in the context, and the requests that an API would refuse. It works like a cache simulator: transcripts are the
//! traces, policies are the eviction strategies, a later use of a fact is a hit or a miss, and an oracle that knows the future is
//! what they are compared with.
//!
//! A study in a program: the transcripts, the policy, one value of the results.
//!
//! ```
//! use recompact::analysis::corpus::FileCorpus;
//! use recompact::analysis::spec::StudySpec;
//!
//! fn main() -> Result<(), recompact::Error> {
//!     let corpus = FileCorpus::at("fixtures/transcripts/codex/repair.jsonl");
//!     let results = StudySpec::new("lcc-s08").set("micro.keep_recent_results=1").run(&corpus)?;
//!     let saved = results.total("lcc-s08", "tokens.saved");
//!     println!("{:.1} % fewer tokens", 100.0 * saved.unwrap_or_default());
//! #   assert!(saved.is_some_and(|saved| saved > 0.0));
//!     Ok(())
//! }
//! ```
//!
//! And the requests that the policy would have sent, as JSON:
//!
//! ```
//! # use recompact::analysis::corpus::{Corpus, FileCorpus};
//! # use recompact::analysis::spec::{Files, StudySpec};
//! # use recompact::engine::context::Context;
//! # use recompact::engine::journal::Request;
//! # let corpus = FileCorpus::at("fixtures/transcripts/codex/repair.jsonl");
//! # let mut requests = 0;
//! let loaded = StudySpec::new("lcc-s08").load(&Files::default())?;
//! let reading = corpus.read(0)?;
//! let prepared = loaded.study.prepare(&reading.conversations[0]);
//! loaded.study.evaluate(&prepared, &loaded.policies[0], &mut |request: &Request, context: &Context| {
//!     println!("{}: {}", request.call, context.to_json());
//! #   requests += 1;
//! });
//! # assert!(requests > 10);
//! # Ok::<(), recompact::Error>(())
//! ```
//!
//! The [`guide`] is for users of the program: what each number means, how to write a policy, what was measured. This page is for
//! readers of the code.
//!
//! # Features
//!
//! | feature | what it adds | by default |
//! |---|---|---|
//! | `cli` | the program `recompact` | yes |
//! | `models` | summarizers and probes that ask a model over HTTP | yes |
//! | `exact` | the exact bound of retention, by an integer solver | yes |
//! | `python` | the module of the Python package, which `pip install .` builds | no |
//!
//! Without them the engine, the metrics, the findings and the reports remain: 113 packages in place of 180
//! (`cargo tree -p recompact --no-default-features --edges normal --prefix none --no-dedupe | sort -u`). The program with the default
//! features has 19 MB (`cargo build --release`).
//!
//! # Data flow
//!
//! ```text
//!  transcript file
//!        │ transcript::format            one reader for each format; unreadable lines become notes
//!        ▼
//!  Conversation                          messages, blocks, tool calls, recorded usage; never changed again
//!        │
//!        ├─▶ tokens                      the size of every block, measured once
//!        ├─▶ facts                       which call uses which earlier fact, found once
//!        │
//!  policy.toml ──▶ Policy                an ordered list of layers
//!        │           │
//!        ▼           ▼
//!     engine::replay                     for each recorded call: append the new messages → each layer that is due proposes
//!        │                               edits → the context applies them → record the request. No I/O, no clock, no errors.
//!        ▼
//!     Journal                            every request and every edit, as plain data
//!        │
//!        ├─▶ metrics                     retention, prompt cache, cost → one value for each column
//!        ├─▶ findings                    what is wrong with the compaction, and where
//!        ▼
//!     analysis::study                    many transcripts × many policies
//!        ▼
//!     Results                            rows, totals, intervals
//!        │ report
//!        ▼
//!  terminal table · JSON · CSV · Markdown · HTML · SARIF · JUnit · GitHub annotations
//! ```
//!
//! # Crates, and their wings in reading order
//!
//! The sources are three crates. A change of a report or of the command line does not compile the engine again, and tests compile the
//! functions of a text, which every byte goes through, for speed. `recompact-core` (`src/core`) is the instrument: it reads, replays and measures. This crate offers all of it under its own name, and
//! asks the questions of users with it. The top-level modules are *wings*. A wing imports only wings above it in this list. The
//! page of each wing names the wings it may import and the modules it offers.
//!
//! In `recompact-text` (`src/core/text`):
//!
//! 1. [`text`]: what a text holds, whatever it belongs to: facts, tokens, lone surrogates.
//!
//! In `recompact-core`:
//!
//! 2. [`util`]: text, templates, positions in TOML files. Knows nothing about agents.
//! 3. [`transcript`]: reads transcript files into conversations. Start with [`transcript::conversation`].
//! 4. [`llm`]: asks language models for a text. The only wing that opens connections or starts programs.
//! 5. [`tokens`]: measures blocks in tokens, characters and bytes, as each harness and tokenizer does.
//! 6. [`facts`]: finds the exact words that an agent needs (paths, identifiers, error lines) and the calls that use them.
//! 7. [`engine`]: replays a conversation under a policy. Read [`engine::policy`], [`engine::layer`], [`engine::context`],
//!    [`engine::replay`](mod@engine::replay), [`engine::journal`].
//! 8. [`programs`]: runs policies that are programs, and speaks their protocol. The engine knows them by the traits of
//!    [`engine::external`].
//! 9. [`metrics`]: turns a journal into numbers. Read [`metrics::retention`], then [`metrics::cost`].
//! 10. [`findings`]: detects what is wrong with a compaction.
//! 11. [`results`]: rows, totals, statistics, and the JSON that [`results::saved`] writes and reads.
//!
//! In this crate:
//!
//! 12. [`analysis`]: the questions that users ask: [`study`](analysis::study), [`sweep`](analysis::sweep), [`gate`](analysis::gate),
//!     [`policy_check`](analysis::policy_check), [`export`](mod@analysis::export),
//!     [`probe`](analysis::probe), [`inspect`](analysis::inspect), [`audit`](mod@analysis::audit).
//! 13. [`report`]: prints results.
//! 14. [`guide`]: the pages for users of the program.
//! 15. `cli`, with the feature of that name: the command line. It parses arguments, shows progress, writes files, and calls [`analysis`]
//!     and [`report`] as any other crate would. The program is one call of `cli::run`.
//!
//! The Python module is another front end (`src/python`); it holds the command line too, so that one file in the package gives both.
//!
//! # Invariants
//!
//! 1. A [`Conversation`](transcript::conversation::Conversation) does not change after it was read. Reading a file always succeeds:
//!    what cannot be read becomes a [`Note`](transcript::format::Note) with its line.
//! 2. Only [`Context`](engine::context::Context) applies edits, and the journal holds every edit. A request is stored as the
//!    difference from the request before it ([`RequestDelta`](engine::journal::RequestDelta)).
//! 3. Sizes add up over blocks. So they are measured once, and a replay costs time only for what changes.
//! 4. A layer never sees later messages: the journal of the first n calls is the same whatever follows. Only two things use the
//!    whole session: the bounds of [`metrics::retention`], and what is fitted to recorded usage (how a model counts tokens, how much
//!    of the system prompt stays cached).
//! 5. The same input gives the same bytes, on any machine and with any number of threads: no clock, no host name, no random number
//!    without a seed. Answers of models are part of the input: a [`Cassette`](llm::client::Cassette) stores them.
//!    So are the answers of policies that are programs, which nothing stores.
//! 6. Text from transcripts is untrusted. [`report::escape`] escapes it before it is printed, and it never chooses a path on disk.
//! 7. Estimates are marked as estimates ([`Column::estimated`](metrics::column::Column::estimated)). A session gets no costs if the
//!    simulated prompt cache cannot reproduce what the provider billed for it.
//!
//! # Extension points
//!
//! To add a member, write one file, its `mod` line and one row in a `const` table. `.github/CONTRIBUTING.md` lists what else each
//! kind of member needs.
//!
//! | to add | table |
//! |---|---|
//! | a transcript format | [`transcript::format::FORMATS`] |
//! | a form that transcripts are written in | [`transcript::write::TARGETS`] |
//! | a token estimator | [`tokens::meter::METERS`] |
//! | a layer | [`engine::layer::LAYERS`] |
//! | a preset policy | [`engine::policy::PRESETS`] |
//! | the configuration of a harness | [`analysis::export::TARGETS`] |
//! | a purpose of `recompact policy new` | [`engine::policy::PURPOSES`], or [`engine::policy::PROPOSALS`] |
//! | a language of `recompact policy new program` | [`programs::TEMPLATES`] |
//! | a summarizer | [`engine::summarizer::SUMMARIZERS`] |
//! | a prompt | [`llm::prompt::PROMPTS`] |
//! | a protocol for models | [`llm::client::PROTOCOLS`] |
//! | a provider of prompt caches | [`metrics::prompt_cache::PROVIDERS`] |
//! | a metric, which is a column and its value | a row of a group in [`metrics::metric::GROUPS`] |
//! | a kind of finding | [`findings::FINDINGS`] |
//! | a report | [`report::REPORTS`] |
//! | a marker that a harness leaves in transcripts | [`analysis::audit::markers::MARKERS`] |
//! | a pattern of a secret | [`analysis::secrets::RULES`] |

// The sources of the program and of the Python module import the library by its name.
#[cfg(feature = "cli")]
extern crate self as recompact;

pub use analysis::Error;

pub use recompact_core::{engine, facts, findings, llm, metrics, programs, results, text, tokens, transcript, util};

pub mod analysis;
pub mod guide;
pub mod report;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "python")]
mod python;
