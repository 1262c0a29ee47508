//! The prompt cache, costs, and the retention of facts.

pub mod by_repository;
pub mod cache_events;
pub mod cache_recordings;
pub mod ccusage;
pub mod cost;
pub mod cost_laws;
pub mod cost_recordings;
pub mod own_names;
pub mod prompt_cache;
pub mod retention_example;
pub mod retention_generations;
pub mod retention_laws;
pub mod retention_page;
pub mod retention_recordings;
pub mod retention_reworded;
pub mod retention_sums;
pub mod slow_cache;
pub mod unbilled_recordings;
pub mod worth;
