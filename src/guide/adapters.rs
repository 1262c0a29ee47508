//! Adapters: code of agent libraries that the Python package runs as policies.

/// An adapter for one library.
pub struct Adapter {
    /// Name of its module in `recompact.adapters`.
    pub name: &'static str,
    source: &'static str,
}

macro_rules! adapters {
    ($($name:literal),* $(,)?) => {
        /// All adapters, one for each library.
        pub const ADAPTERS: &[Adapter] =
            &[$(Adapter { name: $name, source: include_str!(concat!("../python/recompact/adapters/", $name, ".py")) }),*];
    };
}

adapters!["langchain", "google_adk", "pydantic_ai", "agent_framework", "strands", "openai_agents", "openhands"];

impl Adapter {
    /// Returns its page: the description at the top of its module.
    pub fn page(&self) -> &'static str {
        self.source.split("\"\"\"").nth(1).unwrap_or_default()
    }

    /// Returns what it runs, in one line.
    pub fn about(&self) -> &'static str {
        self.page().lines().next().unwrap_or_default()
    }
}
