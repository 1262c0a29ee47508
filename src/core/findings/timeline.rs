//! The timeline that rules read: a replay request by request, and the edits of its layers between them.

pub mod folds;
pub mod message_text;
pub mod misshapen;
pub mod prefix;
pub mod replay;
pub(in crate::findings) mod stubs;
pub mod trigger;
pub mod unseen;
pub mod user_text;
pub mod visible;

pub use replay::{Detection, MOST_ONE_BY_ONE, ReplayView};
