# /// script
# dependencies = ["kimi-cli==1.52.0"]
# ///
"""Kimi CLI's compaction, on messages as its context stores them. Its loop compacts near the window; here it does above a number of
messages."""

import asyncio
import json

import kosong
from kimi_cli.soul import compaction
from kosong.message import Message, TextPart, ToolCall

from recordings import serve


class Answer:
    """What the model answers."""

    message = Message(role="assistant", content=[TextPart(text="SUMMARY")])
    usage = trace_id = None


class Model:
    chat_provider = None


async def step(**_):
    return Answer


kosong.step = step


def to_message(item):
    match item:
        case ["user", text]:
            return Message(role="user", content=[TextPart(text=text)])
        case ["result", call, text]:
            return Message(role="tool", tool_call_id=call, content=[TextPart(text=text)])
        case ["assistant", text, calls]:
            function = lambda name, args: ToolCall.FunctionBody(name=name, arguments=json.dumps(args))
            calls = [ToolCall(id=call, function=function(name, args)) for call, name, args in calls]
            return Message(role="assistant", content=[TextPart(text=text)], tool_calls=calls or None)


def to_item(message):
    text = "".join(part.text for part in message.content)
    if message.role == "user":
        return ["user", text]
    if message.role == "tool":
        return ["result", message.tool_call_id, text]
    calls = [(call.id, call.function) for call in message.tool_calls or []]
    return ["assistant", text, [[call, function.name, json.loads(function.arguments)] for call, function in calls]]


class Compaction:
    def __init__(self, threshold):
        self.threshold, self.compaction, self.history = threshold, compaction.SimpleCompaction(), []

    def request(self, new):
        self.history += map(to_message, new)
        if len(self.history) >= self.threshold:
            result = asyncio.run(self.compaction.compact(self.history, Model))
            self.history = list(result.messages)
        return [to_item(message) for message in self.history], None


def start(variant):
    return {"12": lambda: Compaction(12), "40": lambda: Compaction(40)}[variant]()


serve(start, "kimi-cli")
