# /// script
# dependencies = ["inspect-ai==0.3.285"]
# ///
"""Inspect AI's compaction, on messages as its agents store them. Its handler compacts near the window; here it does above a number of
messages, and takes what its strategy leaves: the original stops the sample if that is too much. It never clears what its tool
`tool_search` found, a quirk that the preset names: here that tool has another name."""

import asyncio
import itertools

from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    CompactionEdit,
    CompactionSummary,
    ModelOutput,
    compaction,
    get_model,
)
from inspect_ai.tool import ToolCall

from recordings import serve

ids = itertools.count()


def to_message(item):
    new_id = f"m{next(ids)}"
    match item:
        case ["user", text]:
            return ChatMessageUser(id=new_id, content=text)
        case ["result", call, text]:
            return ChatMessageTool(id=new_id, content=text, tool_call_id=call)
        case ["assistant", text, calls]:
            calls = [ToolCall(id=call, function=f"a {name}", arguments={"input": args}) for call, name, args in calls]
            return ChatMessageAssistant(id=new_id, content=text, tool_calls=calls or None)


def to_item(message):
    match message.role:
        case "user" if "summary" in (message.metadata or {}):
            return ["user", "SUMMARY" if "\n\nSUMMARY\n\n" in message.content else message.content]
        case "user":
            return ["user", message.content]
        case "tool":
            return ["result", message.tool_call_id, message.content]
        case "assistant":
            calls = [[call.id, call.function[2:], call.arguments["input"]] for call in message.tool_calls or []]
            return ["assistant", message.content, calls]


class Compaction:
    def __init__(self, strategy, threshold, **settings):
        self.is_compacted, self.history, harness = False, [], self

        class Strategy(strategy):
            async def compact(self, *arguments):
                harness.is_compacted = True
                return await super().compact(*arguments)

        self.model = get_model("mockllm/model", memoize=False)
        self.model.count_tokens, self.model.generate = self.count, self.answer
        self.model.count_tool_tokens = lambda _: self.count([])
        self.handler = compaction(Strategy(threshold=threshold, **settings), prefix=[], model=self.model)

    async def count(self, messages, *_):
        return 0 if self.is_compacted else len(messages)

    async def answer(self, *_, **__):
        return ModelOutput.from_content("mockllm", "SUMMARY")

    def request(self, new):
        self.history += map(to_message, new)
        self.is_compacted = False
        messages, summary = asyncio.run(self.handler.compact_input(self.history))
        self.history += [summary] if summary else []
        return [to_item(message) for message in messages], None


def start(variant):
    return {
        "edit-40": lambda: Compaction(CompactionEdit, 40),
        "edit-8": lambda: Compaction(CompactionEdit, 8, keep_tool_uses=1),
        "summary-40": lambda: Compaction(CompactionSummary, 40),
        "summary-12": lambda: Compaction(CompactionSummary, 12),
    }[variant]()


serve(start, "inspect-ai")
