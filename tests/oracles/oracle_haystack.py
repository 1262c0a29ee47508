# /// script
# dependencies = ["haystack-ai==3.4.1"]
# ///
"""Haystack's compaction hook, with its compactor that replaces results. It has a counter of characters, which is a parameter of the
hook: texts and results, and of each call the tool's name and its arguments as compact JSON."""

import json
import logging
import os
import warnings

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"
logging.disable()
warnings.simplefilter("ignore")

from haystack.components.agents.state.state import State
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.hooks.compaction import CompactionHook, ToolResultPruningCompactor

from recordings import serve


class Characters:
    def count(self, messages, tools=None):
        return sum(map(characters, messages))


def characters(message):
    results = sum(len(result.result) for result in message.tool_call_results)
    calls = sum(len(call.tool_name) + len(compact(call.arguments)) for call in message.tool_calls)
    return results + calls + sum(map(len, message.texts))


def compact(arguments):
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


class Compaction:
    def __init__(self, window, min_tokens):
        compactor = ToolResultPruningCompactor(min_tokens=min_tokens)
        self.hook = CompactionHook(compactor, context_window=window, token_counter=Characters())
        self.calls, self.state = {}, State(schema={"context_tokens": {"type": int}})

    def request(self, new):
        messages = self.state.data.get("messages", []) + [self.to_message(item) for item in new]
        self.state.data["messages"] = messages
        self.hook.run(self.state)
        kept = self.state.data["messages"]
        return [to_item(message) for message in kept], Characters().count(kept)

    def to_message(self, item):
        match item:
            case ["user", text]:
                return ChatMessage.from_user(text)
            case ["result", call, text]:
                return ChatMessage.from_tool(tool_result=text, origin=self.calls[call])
            case ["assistant", text, calls]:
                calls = [ToolCall(tool_name=name, arguments=arguments, id=call) for call, name, arguments in calls]
                self.calls |= {call.id: call for call in calls}
                return ChatMessage.from_assistant(text or None, tool_calls=calls)


def to_item(message):
    if result := message.tool_call_result:
        return ["result", result.origin.id, result.result]
    if message.is_from("user"):
        return ["user", message.text]
    return ["assistant", message.text or "", [[call.id, call.tool_name, call.arguments] for call in message.tool_calls]]


def start(variant):
    window, min_tokens = map(int, variant.split("-")[1:])
    return Compaction(window, min_tokens)


serve(start, "haystack-ai")
