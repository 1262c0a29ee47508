# /// script
# dependencies = ["agent-framework-core==1.23.0"]
# ///
"""Strategies of Microsoft's agent-framework, on messages with each result alone."""

import asyncio
import json

from agent_framework import (
    ChatResponse,
    Content,
    Message,
    SelectiveToolCallCompactionStrategy,
    SlidingWindowStrategy,
    SummarizationStrategy,
    ToolResultCompactionStrategy,
    TruncationStrategy,
    apply_compaction,
)

from recordings import serve


def to_message(item):
    match item:
        case ["user", text]:
            return Message(role="user", contents=[Content.from_text(text)])
        case ["result", call, text]:
            return Message(role="tool", contents=[Content.from_function_result(call, result=text)])
        case ["assistant", text, calls]:
            calls = [Content.from_function_call(call, name, arguments=json.dumps(args)) for call, name, args in calls]
            return Message(role="assistant", contents=[Content.from_text(text), *calls])


def to_item(message):
    first, *calls = message.contents
    if message.role == "user":
        return ["user", first.text]
    if message.role == "tool":
        return ["result", first.call_id, first.result]
    return ["assistant", first.text, [[call.call_id, call.name, json.loads(call.arguments)] for call in calls]]


class Summarizer:
    async def get_response(self, messages, **_):
        return ChatResponse(messages=[Message(role="assistant", contents=["SUMMARY"])])


def summarization(target, threshold):
    """The summarizer reads all that it replaces: by default the strategy limits it by a count of its own."""
    return SummarizationStrategy(
        client=Summarizer(), target_count=target, threshold=threshold, max_summary_input_tokens=None
    )


class Compaction:
    """The strategy marks messages of the history as excluded, and a request has the others."""

    def __init__(self, strategy):
        self.strategy, self.history = strategy, []

    def request(self, new):
        self.history += map(to_message, new)
        included = asyncio.run(apply_compaction(self.history, strategy=self.strategy))
        return [to_item(message) for message in included], None


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
        "results-8": lambda: Compaction(ToolResultCompactionStrategy(keep_last_tool_call_groups=8)),
    }[variant]()


serve(start, "agent-framework-core")
