//! The command line: what users and scripts rely on.

pub mod action;
pub mod bad_input;
pub mod completions;
pub mod contexts;
pub mod defaults;
pub mod diff;
pub mod export_settings;
pub mod faults;
pub mod file_uses;
pub mod first_screens;
pub mod guide;
pub mod left_out;
pub mod limits;
pub mod materialize;
pub mod models;
pub mod policy;
pub mod prices;
pub mod promises;
pub mod readme;
pub mod recognised;
pub mod resume;
pub mod saved_form;
pub mod show;
pub mod typed_input;
pub mod which_sessions;
pub mod workflow_commands;
