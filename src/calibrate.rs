//! Tokens by the record: how many tokens a model's own tokenizer, which is not public, makes of a character.
