//! Policies as programs: starts them, and speaks the protocol with them that the page *programs* of the guide describes.
//!
//! May import: [`util`](crate::util), [`transcript`](crate::transcript), [`llm`](crate::llm) and [`engine`](crate::engine). Offers
//! [`Programs`], which starts programs and keeps them for further sessions, [`shape`] (messages in the forms of Anthropic and of
//! OpenAI, and back), [`protocol`] (the lines that both sides write), [`ProgramSettings`], and
//! [`TEMPLATES`], programs to begin with.

mod pool;
pub mod protocol;
mod session;
pub mod shape;
mod start;
mod template;

pub use pool::Repeated;
pub use protocol::PROTOCOL;
pub use start::{ProgramSettings, Programs};
pub use template::{TEMPLATES, Template};
