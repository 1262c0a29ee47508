//! Small tools that know nothing of agents.
//!
//! May import: no other wing. Offers [`text`] (characters as Python and JavaScript count them, wrapping), [`template`] (texts
//! with named holes), [`toml_span`] (the line of a key in a TOML file), and for this crate alone `csr` (lists of lists in one
//! array) and `json_schema` (schemas for editors, made from the types that are read).

pub(crate) mod csr;
pub(crate) mod json_schema;
#[cfg(test)]
pub(crate) mod linear;
pub mod template;
pub mod text;
pub mod toml_span;
