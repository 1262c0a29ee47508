# /// script
# dependencies = ["langchain==1.5.0"]
# ///
"""LangChain's context editing and summarization middleware, and `trim_messages`, on messages as OpenAI's chat API has them."""

from langchain.agents.middleware.context_editing import ClearToolUsesEdit
from langchain.agents.middleware.summarization import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages.utils import count_tokens_approximately, trim_messages

from langchain_messages import to_item, to_langchain
from recordings import serve


class ClearToolUses:
    """`ClearToolUsesEdit` edits a copy of the history for each request."""

    def __init__(self, **settings):
        self.edit, self.history = ClearToolUsesEdit(**settings), []

    def request(self, new):
        self.history += map(to_langchain, new)
        messages = list(self.history)
        self.edit.apply(messages, count_tokens=count_tokens_approximately)
        return [to_item(message) for message in messages], count_tokens_approximately(messages)


class Trim:
    """`trim_messages` gives a copy of the history for each request. If the newest message alone is over the limit, it gives nothing, which
    cannot be sent; here the newest message stays then, as a quirk of the preset says."""

    def __init__(self, max_tokens):
        self.max_tokens, self.history = max_tokens, []

    def request(self, new):
        self.history += map(to_langchain, new)
        messages = trim_messages(self.history, max_tokens=self.max_tokens, token_counter=count_tokens_approximately)
        return [to_item(message) for message in messages or self.history[-1:]], None


class Summarization:
    """`SummarizationMiddleware` replaces messages of the agent's state before a call."""

    def __init__(self, **settings):
        model = FakeListChatModel(responses=["SUMMARY"])
        self.middleware = SummarizationMiddleware(model, summarizer=lambda messages: "SUMMARY", **settings)
        self.history = []

    def request(self, new):
        self.history += map(to_langchain, new)
        update = self.middleware.before_model({"messages": self.history}, None)
        if update is not None:
            # The first entry says that all messages are replaced.
            self.history = update["messages"][1:]
        return [to_item(message) for message in self.history], None


def start(variant):
    return {
        "summarize-50-messages": lambda: Summarization(trigger=("messages", 50)),
        "summarize-30k": lambda: Summarization(trigger=("tokens", 30_000), keep=("messages", 8)),
        "summarize-keep-tokens": lambda: Summarization(trigger=("tokens", 30_000), keep=("tokens", 5_000)),
        "trim-50k": lambda: Trim(50_000),
        "trim-20k": lambda: Trim(20_000),
        "clear": lambda: ClearToolUses(),
        "clear-low": lambda: ClearToolUses(trigger=20_000),
        "clear-inputs": lambda: ClearToolUses(trigger=0, clear_tool_inputs=True),
    }[variant]()


serve(start, "langchain", "langchain-core")
