# /// script
# dependencies = ["pydantic==2.12.5"]
# ///
"""SWE-agent's `last_n_observations`. The package of that name on PyPI is a placeholder, so this reads a checkout of the repository:
SWE_AGENT names it. Without it there is nothing to ask (exit code 77)."""

import os
import sys
import types
import typing

from recordings import checkout, load, serve_checkout

SOURCE = "sweagent/agent/history_processors.py"
CHECKOUT = checkout("SWE_AGENT", SOURCE)

# The package imports its whole environment; the module needs two types of it.
stub = types.ModuleType("sweagent.types")
stub.History = stub.HistoryItem = typing.Any
sys.modules.update({"sweagent": types.ModuleType("sweagent"), "sweagent.types": stub})
history_processors = load(os.path.join(CHECKOUT, SOURCE))


class LastN:
    """The task is the first observation, and each tool result another."""

    def __init__(self, **settings):
        self.processor, self.items, self.history = history_processors.LastNObservations(**settings), [], []

    def request(self, new):
        for item in new:
            is_observation = item[0] == "result" or not self.history
            text = item[2] if item[0] == "result" else item[1]
            self.history.append({"content": text, "message_type": "observation" if is_observation else "other"})
        self.items += new
        shown = [entry["content"] for entry in self.processor(self.history)]
        return [[*item[:2], text] if item[0] == "result" else item for item, text in zip(self.items, shown)], None


def start(variant):
    n, _, polling = variant.partition("/")
    return LastN(n=int(n), polling=int(polling or 1))


serve_checkout(start, "SWE-agent", CHECKOUT)
