//! The integration tests, in one binary: a folder for each wing of `src`, and what they share in `support`.

mod analysis;
mod architecture;
mod cli;
mod engine;
mod findings;
mod fuzz;
mod llm;
mod metrics;
mod programs;
mod report;
mod results;
mod shapes;
mod support;
mod tidy;
mod tokens;
mod transcript;
