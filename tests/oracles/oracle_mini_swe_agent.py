# /// script
# dependencies = ["mini-swe-agent==2.4.6"]
# ///
"""mini-swe-agent's template of an observation. What it puts around an output is taken off again; of a cut one, head and tail are put
together with the number of missing characters, as the preset does."""

import json
import os
from pathlib import Path

os.environ["MSWEA_SILENT_STARTUP"] = "1"

import minisweagent
import yaml
from minisweagent.models.utils.actions_toolcall import format_toolcall_observation_messages

from recordings import serve

CONFIG = yaml.safe_load((Path(minisweagent.__file__).parent / "config/mini.yaml").read_text())
TEMPLATE = CONFIG["model"]["observation_template"]


def observed(output):
    action, result = {"tool_call_id": "1"}, {"output": output, "returncode": 0, "exception_info": ""}
    messages = format_toolcall_observation_messages(actions=[action], outputs=[result], observation_template=TEMPLATE)
    seen = json.loads(messages[0]["content"])
    if "output" in seen:
        return seen["output"]
    elided = f"\n<elided_chars>\n{seen['elided_chars']} characters elided\n</elided_chars>\n" if seen["elided_chars"] else ""
    return seen["output_head"] + elided + seen["output_tail"]


class Agent:
    def __init__(self):
        self.history = []

    def request(self, new):
        self.history += [["result", item[1], observed(item[2])] if item[0] == "result" else item for item in new]
        return list(self.history), None


serve(lambda _: Agent(), "mini-swe-agent")
