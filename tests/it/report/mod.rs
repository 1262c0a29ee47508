//! Reports, and the HTML page in a browser.

pub mod chromium;
pub mod ci;
pub mod html;
pub mod html_calls;
pub mod html_reader;
pub mod html_results;
pub mod reports;
mod screen_changes;
mod screens;
