//! Detects error messages that say a question is too long; every server words them differently, and few use an error code.

/// Parts of such messages in lower case, and the servers that send them.
const MESSAGES: &[(&str, &str)] = &[
    ("prompt is too long", "Anthropic"),
    ("exceed context limit", "Anthropic, when the answer counts too"),
    ("context_length_exceeded", "OpenAI, Azure, Groq"),
    ("exceeds the context window", "OpenAI"),
    ("string_above_max_length", "OpenAI, for a single text"),
    ("maximum context length", "OpenAI, vLLM, SGLang, OpenRouter, DeepSeek, Mistral"),
    ("maximum model length", "vLLM"),
    ("max_model_len", "vLLM"),
    ("exceed_context_size_error", "llama-server"),
    ("exceeds the available context size", "llama-server"),
    ("exceeds the context length", "Ollama"),
    ("exceeded max context length", "Ollama"),
    ("greater than the context length", "LM Studio"),
    ("exceeds the maximum number of tokens allowed", "Gemini"),
    ("maximum prompt length", "xAI"),
    ("input is too long for requested model", "Bedrock"),
    ("reduce the length of the messages", "Groq"),
    ("`inputs` tokens + `max_new_tokens` must be", "Text Generation Inference"),
];

/// Whether an error message says that the question is too long.
pub(super) fn is_too_long(message: &str) -> bool {
    let message = message.to_lowercase();
    MESSAGES.iter().any(|(part, _)| message.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_long_errors_of_every_server_are_recognised() {
        let too_long = [
            "prompt is too long: 213462 tokens > 200000 maximum (invalid_request_error)",
            "input length and `max_tokens` exceed context limit: 198154 + 21333 > 200000, decrease input length",
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens.",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "Input tokens exceed the configured limit of 272000 tokens. (context_length_exceeded, invalid_request_error)",
            "the request exceeds the available context size, try increasing it (exceed_context_size_error)",
            "'max_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104",
            "The decoder prompt (length 9000) is longer than the maximum model length of 4096. (BadRequestError)",
            "the input length exceeds the context length",
            "prompt too long; exceeded max context length by 120 tokens",
            "The number of tokens to keep from the initial prompt is greater than the context length.",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
            "Input is too long for requested model.",
            "Please reduce the length of the messages or completion.",
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097.",
        ];
        for message in too_long {
            assert!(is_too_long(message), "{message}");
        }
        let not_too_long = [
            "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens",
            "Rate limit reached for requests",
            "temperature: range: 0..1",
            "model not found",
            "",
        ];
        for message in not_too_long {
            assert!(!is_too_long(message), "{message}");
        }
    }
}
