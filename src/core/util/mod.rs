//! Small tools that know nothing about agents.
//!
//! May import: no other wing. Offers [`text`] (cutting, wrapping, names that are alike), [`template`] (texts
//! with named holes), [`toml_span`] (the line of a key in a TOML file), [`toml_table`] (a value from a table, and the key that is
//! wrong), [`csr`] (lists of lists in two flat vectors), [`doc_head`](mod@doc_head) (the page at the head of a source file),
//! [`json_schema`] (schemas, generated from the types that serde reads and writes), [`numbers`] (numbers in few bytes), [`search`]
//! (many texts in one pass), [`spill`] (temporary files) and [`held`] (values in them), [`waiting`] (work that waits for another
//! program) and [`ValueError`] (why a value that a user wrote cannot be used).

pub mod csr;
pub mod doc_head;
pub mod held;
pub mod json_schema;
pub mod numbers;
pub mod search;
pub mod spill;
pub mod template;
pub mod text;
pub mod toml_span;
pub mod toml_table;
mod value_error;
pub mod waiting;

pub use value_error::ValueError;
