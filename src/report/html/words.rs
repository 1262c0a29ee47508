//! The words of the page for columns that people look at first; other columns have their ids.

use super::super::table_model::compare::title;
use super::roles::Roles;
use crate::metrics::metric::{broken, cost, overflow, retention, tokens};
use crate::results::saved::{Column, Direction};

const WORDS: &[(&str, &str)] = &[
    (cost::USD, "cost"),
    (cost::CACHE_READ, "read from the cache"),
    (retention::HIT, "facts in context"),
    (retention::HARD, "lost for good"),
    (retention::CONSTRAINTS, "user instructions kept"),
    (tokens::SENT, "tokens sent"),
    (tokens::SAVED, "tokens saved"),
    (overflow::OVERFLOWS, "requests over the window"),
    (broken::REQUESTS, "malformed requests"),
];

/// `cost, share of no compaction`, `facts in context`, `~tokens.peak`
pub fn words(column: &Column, roles: &Roles) -> String {
    if column.id == cost::RATIO {
        return format!("cost, share of {}", roles.label(roles.baseline));
    }
    let known = WORDS.iter().find(|(id, _)| column.id == *id);
    known.map_or_else(|| title(column), |(_, words)| (*words).to_owned())
}

/// The same with the direction that is better, for an axis.
pub fn axis_name(column: &Column, roles: &Roles) -> String {
    let direction = match column.better {
        Direction::Lower => " (less is better)",
        Direction::Higher => " (more is better)",
        Direction::Neither => "",
    };
    words(column, roles) + direction
}
