# /// script
# dependencies = ["agent-framework-core==1.23.0"]
# ///
"""Strategies of Microsoft's agent-framework, on messages with each result alone."""

import asyncio
import json
import re

from agent_framework import (
    CharacterEstimatorTokenizer,
    ChatResponse,
    Content,
    ContextWindowCompactionStrategy,
    Message,
    SelectiveToolCallCompactionStrategy,
    SlidingWindowStrategy,
    SummarizationStrategy,
    ToolResultCompactionStrategy,
    TruncationStrategy,
    apply_compaction,
    included_token_count,
)

from recordings import serve


def to_message(item):
    match item:
        case ["user", text]:
            return Message(role="user", contents=[Content.from_text(part) for part in text.parts])
        case ["result", call, text]:
            return Message(role="tool", contents=[Content.from_function_result(call, result=text)])
        case ["assistant", text, calls]:
            texts = [Content.from_text(part) for part in text.parts]
            calls = [Content.from_function_call(call, name, arguments=written(args)) for call, name, args in calls]
            return Message(role="assistant", contents=texts + calls)


def written(arguments):
    """Arguments as a model writes them."""
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def to_item(message):
    text = "".join(content.text for content in message.contents if content.type == "text")
    if message.role == "user":
        return ["user", text]
    if message.role == "tool":
        return ["result", message.contents[0].call_id, message.contents[0].result]
    calls = [content for content in message.contents if content.type == "function_call"]
    return ["assistant", text, [[call.call_id, call.name, json.loads(call.arguments)] for call in calls]]


class Summarizer:
    async def get_response(self, messages, **_):
        return ChatResponse(messages=[Message(role="assistant", contents=["SUMMARY"])])


def summarization(target, threshold):
    """The summarizer reads all that it replaces: by default the strategy limits it by a count of its own."""
    return SummarizationStrategy(
        client=Summarizer(), target_count=target, threshold=threshold, max_summary_input_tokens=None
    )


class EqualIds(CharacterEstimatorTokenizer):
    """The default tokenizer, for which all ids of messages are equally long."""

    ID = re.compile(r'"message_id": "[^"]*", "role": "(\w+)"}\Z')

    def count_tokens(self, text):
        return super().count_tokens(self.ID.sub(r'"message_id": "msg_100", "role": "\1"}', text))


def context_window(window, max_output, **settings):
    strategy = ContextWindowCompactionStrategy(
        max_context_window_tokens=window, max_output_tokens=max_output, tokenizer=EqualIds(), **settings
    )
    return Compaction(strategy, included_token_count)


class Compaction:
    """The strategy marks messages of the history as excluded, and a request has the others."""

    def __init__(self, strategy, estimate=lambda messages: None):
        self.strategy, self.estimate, self.history = strategy, estimate, []

    def request(self, new):
        self.history += map(to_message, new)
        included = asyncio.run(apply_compaction(self.history, strategy=self.strategy))
        return [to_item(message) for message in included], self.estimate(included)


def start(variant):
    return {
        "window-20": lambda: Compaction(SlidingWindowStrategy(keep_last_groups=20)),
        "window-3": lambda: Compaction(SlidingWindowStrategy(keep_last_groups=3)),
        "truncation-80-40": lambda: Compaction(TruncationStrategy(max_n=80, compact_to=40)),
        "truncation-11-7": lambda: Compaction(TruncationStrategy(max_n=11, compact_to=7)),
        "summarization-4-2": lambda: Compaction(summarization(4, 2)),
        "summarization-25-15": lambda: Compaction(summarization(25, 15)),
        "tools-1": lambda: Compaction(SelectiveToolCallCompactionStrategy()),
        "tools-8": lambda: Compaction(SelectiveToolCallCompactionStrategy(keep_last_tool_call_groups=8)),
        "results-1": lambda: Compaction(ToolResultCompactionStrategy()),
        "context-window-128000-16384": lambda: context_window(128_000, 16_384),
        "context-window-20000-4000": lambda: context_window(20_000, 4_000, keep_last_tool_call_groups=2),
        "results-8": lambda: Compaction(ToolResultCompactionStrategy(keep_last_tool_call_groups=8)),
    }[variant]()


serve(start, "agent-framework-core")
