# /// script
# dependencies = ["crewai==1.15.30"]
# ///
"""CrewAI's summary of a conversation that is too long, on messages as its agents store them. Its agents ask for it when the provider
refuses a request; here it is made above a number of messages."""

import json
import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from crewai.llms.base_llm import BaseLLM
from crewai.utilities.agent_utils import handle_context_length
from crewai_core.printer import Printer

from recordings import serve


class Model(BaseLLM):
    """A model for which nothing is too long, and that always answers the same."""

    def call(self, *_, **__):
        return "<summary>SUMMARY</summary>"

    async def acall(self, *_, **__):
        return self.call()

    def get_input_tokens_count(self, *_, **__):
        return 1


def to_message(item):
    match item:
        case ["user", text]:
            return {"role": "user", "content": text}
        case ["result", call, text]:
            return {"role": "tool", "tool_call_id": call, "content": text}
        case ["assistant", text, calls]:
            function = lambda name, args: {"name": name, "arguments": json.dumps(args)}
            calls = [{"id": call, "type": "function", "function": function(name, args)} for call, name, args in calls]
            return {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})


def to_item(message):
    text = message["content"]
    if message["role"] == "user":
        return ["user", "SUMMARY" if text.startswith("<summary>\nSUMMARY\n</summary>") else text]
    if message["role"] == "tool":
        return ["result", message["tool_call_id"], text]
    calls = [(call["id"], call["function"]) for call in message.get("tool_calls", [])]
    return ["assistant", text, [[call, function["name"], json.loads(function["arguments"])] for call, function in calls]]


class Summarizing:
    def __init__(self, threshold):
        self.threshold, self.messages, self.model = threshold, [], Model(model="scripted")

    def request(self, new):
        self.messages += map(to_message, new)
        if len(self.messages) > self.threshold:
            handle_context_length(True, Printer(), self.messages, self.model, [], verbose=False)
        return [to_item(message) for message in self.messages], None


def start(variant):
    return {"12": lambda: Summarizing(12), "40": lambda: Summarizing(40)}[variant]()


serve(start, "crewai")
