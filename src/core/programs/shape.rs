//! Messages in the forms of Anthropic and of OpenAI, and back, without loss.
//!
//! The engine keeps blocks in Anthropic's form, so that form is a copy. In OpenAI's form, what has no place of its own is written
//! as Anthropic writes it, among the parts of `content`.

mod anthropic;
mod block;
mod openai;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::engine::external::{ExternalError, Shape, ShownMessage};
use crate::transcript::conversation::Role;

/// A message as a program gets it.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Wire<'a>(Form<'a>);

#[derive(Serialize)]
#[serde(untagged)]
enum Form<'a> {
    Anthropic(anthropic::Wire<'a>),
    OpenAi(Map<String, Value>),
}

/// A message as a program wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    pub role: Role,
    pub is_string_content: bool,
    /// It is part of the same message as the one before it.
    pub continues: bool,
    /// Blocks in Anthropic's form.
    pub blocks: Vec<Value>,
}

/// Writes a message in one of the two forms, with its id.
pub fn to_wire<'a>(shape: Shape, message: &ShownMessage<'a>) -> Wire<'a> {
    Wire(match shape {
        Shape::Anthropic => Form::Anthropic(anthropic::Wire::new(message)),
        Shape::OpenAi => Form::OpenAi(openai::write(message)),
    })
}

/// Reads a message in one of the two forms, without its id.
///
/// # Errors
///
/// Fails with the field that is wrong.
pub fn from_wire(shape: Shape, mut fields: Map<String, Value>) -> Result<Parsed, ExternalError> {
    let continues = fields.remove("continues").is_some_and(|continues| continues == true);
    let (role, is_string_content, blocks) = match shape {
        Shape::Anthropic => anthropic::read(fields)?,
        Shape::OpenAi => openai::read(fields)?,
    };
    if blocks.is_empty() {
        return Err("it has no content; to remove a message, do not name it, or name it in `drop`".to_owned().into());
    }
    blocks.iter().try_for_each(block::check)?;
    Ok(Parsed { role, is_string_content, continues, blocks })
}

/// Reads the role of a message.
fn read_role(role: Option<Value>) -> Result<String, String> {
    match role {
        Some(Value::String(role)) => Ok(role),
        _ => Err("`role` is missing, or is no text".to_owned()),
    }
}

/// Fails if a field is left that a form does not have. Libraries write fields without a value as null.
fn refuse_others(fields: &Map<String, Value>, known: &str) -> Result<(), String> {
    match fields.iter().find(|(_, value)| !value.is_null()) {
        Some((key, _)) => Err(format!("a message has no field `{key}` (known: {known})")),
        None => Ok(()),
    }
}
