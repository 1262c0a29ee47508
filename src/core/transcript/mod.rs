//! Reads recorded transcripts into conversations.
//!
//! May import: [`text`](crate::text), [`util`](crate::util). Offers [`conversation`] (messages, blocks, calls: never changed after reading),
//! [`format`](mod@format) (one reader for each transcript format), [`tool_access`] (which files a tool call reads and writes),
//! [`copies`] (transcripts that are in another one too), [`source`] (finds and reads the files),
//! [`write`](mod@write) (conversations in the forms of other programs), and to the wings above `openai_form` (blocks
//! in the form of OpenAI's chat API).

pub mod conversation;
pub mod copies;
pub mod format;
pub mod impossible_usage;
pub(crate) mod openai_form;
pub mod sent_thinking;
pub mod silent_drops;
pub mod source;
pub mod tool_access;
pub mod write;
