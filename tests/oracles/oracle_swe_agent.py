# /// script
# dependencies = ["pydantic==2.12.5"]
# ///
"""SWE-agent's `last_n_observations`. The package of that name on PyPI is a placeholder, so this reads a checkout of the repository:
SWE_AGENT names it. Without it there is nothing to ask (exit code 77)."""

import importlib.util
import os
import subprocess
import sys
import types
import typing

from recordings import serve

CHECKOUT = os.environ.get("SWE_AGENT", "")
SOURCE = os.path.join(CHECKOUT, "sweagent/agent/history_processors.py")
if not os.path.isfile(SOURCE):
    print("SWE_AGENT names no checkout of SWE-agent", file=sys.stderr)
    sys.exit(77)

# The package imports its whole environment; the module needs two types of it.
stub = types.ModuleType("sweagent.types")
stub.History = stub.HistoryItem = typing.Any
sys.modules.update({"sweagent": types.ModuleType("sweagent"), "sweagent.types": stub})
spec = importlib.util.spec_from_file_location("history_processors", SOURCE)
history_processors = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = history_processors
spec.loader.exec_module(history_processors)


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


if sys.argv[1:] == ["--version"]:
    commit = subprocess.run(["git", "-C", CHECKOUT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    print(f"SWE-agent {commit.stdout.strip() or 'of ' + CHECKOUT}")
else:
    serve(start)
