# /// script
# dependencies = ["openai-agents==0.24.0"]
# ///
"""`ToolOutputTrimmer` of the OpenAI Agents SDK, on items of the Responses API."""

import json

from agents.extensions import ToolOutputTrimmer
from agents.run_config import CallModelData, ModelInputData

from recordings import serve


def to_responses(item):
    match item:
        case ["user", text]:
            return [{"role": "user", "content": text}]
        case ["result", call, text]:
            return [{"type": "function_call_output", "call_id": call, "output": text}]
        case ["assistant", text, calls]:
            said = [{"role": "assistant", "content": text}]
            called = [
                {"type": "function_call", "call_id": call, "name": name, "arguments": json.dumps(args)}
                for call, name, args in calls
            ]
            return said + called


class Trimmer:
    def __init__(self, **settings):
        self.trimmer, self.history, self.items = ToolOutputTrimmer(**settings), [], []

    def request(self, new):
        self.items += new
        self.history += [part for item in new for part in to_responses(item)]
        data = CallModelData(model_data=ModelInputData(input=self.history, instructions=None), agent=None, context=None)
        outputs = [part["output"] for part in self.trimmer(data).input if part.get("type") == "function_call_output"]
        # Only outputs are ever changed: the others are as they were.
        outputs = iter(outputs)
        return [["result", item[1], next(outputs)] if item[0] == "result" else item for item in self.items], None


def start(variant):
    return {"default": lambda: Trimmer(), "small": lambda: Trimmer(recent_turns=1, max_output_chars=100, preview_chars=30)}[variant]()


serve(start, "openai-agents")
