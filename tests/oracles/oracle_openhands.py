# /// script
# dependencies = ["openhands-sdk==1.58.0"]
# ///
"""The summarizing condenser of OpenHands' agent SDK, on the events that its agents write."""

import json
import os

# Nothing of it may ask the network: it would wait for an answer.
os.environ.update(OPENHANDS_SUPPRESS_BANNER="1", LITELLM_LOCAL_MODEL_COST_MAP="True")

from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.sdk.context.view import View
from openhands.sdk.event import ActionEvent, Condensation, CondensationSummaryEvent, MessageEvent, ObservationEvent
from openhands.sdk.event import SystemPromptEvent
from openhands.sdk.llm import Message, MessageToolCall, TextContent
from openhands.sdk.testing import TestLLM
from openhands.sdk.tool import Action, Observation

from recordings import serve


class RecordedAction(Action):
    """A tool call of a recording, whatever its input."""


class RecordedObservation(Observation):
    """The result of a recorded tool call."""


class Condenser:
    def __init__(self, **settings):
        summary = Message(role="assistant", content=[TextContent(text="SUMMARY")])
        self.condenser = LLMSummarizingCondenser(llm=TestLLM.from_messages([summary] * 10_000), **settings)
        self.events = [SystemPromptEvent(source="agent", system_prompt=TextContent(text="System."), tools=[])]
        self.items, self.responses, self.actions = {}, 0, {}

    def add(self, event, item):
        self.events.append(event)
        self.items[event.id] = item

    def add_item(self, item):
        match item:
            case ["user", text]:
                message = Message(role="user", content=[TextContent(text=text)])
                self.add(MessageEvent(source="user", llm_message=message), item)
            case ["assistant", text, []]:
                message = Message(role="assistant", content=[TextContent(text=text)])
                self.add(MessageEvent(source="agent", llm_message=message), item)
            case ["assistant", text, calls]:
                self.responses += 1
                for index, (call, name, args) in enumerate(calls):
                    thought = [TextContent(text=text)] if index == 0 else []
                    tool_call = MessageToolCall(id=call, name=name, arguments=json.dumps(args), origin="completion")
                    action = ActionEvent(
                        thought=thought, action=RecordedAction(), tool_name=name, tool_call_id=call, tool_call=tool_call,
                        llm_response_id=f"response-{self.responses}",
                    )
                    self.actions[call] = action
                    self.add(action, ["call", index, text, [call, name, args]])
            case ["result", call, text]:
                action = self.actions[call]
                observation = RecordedObservation.from_text(text)
                event = ObservationEvent(
                    observation=observation, action_id=action.id, tool_name=action.tool_name, tool_call_id=call
                )
                self.add(event, item)

    def request(self, new):
        for item in new:
            self.add_item(item)
        while isinstance(view := self.condenser.condense(View.from_events(self.events)), Condensation):
            # From here on only the view counts, which the forgotten events are not in.
            self.events = list(View.from_events([*self.events, view]).events)
        found = []
        for event in view.events:
            item = ["user", event.summary] if isinstance(event, CondensationSummaryEvent) else self.items.get(event.id)
            if item is None:
                continue
            # Each call of a response is an event, and the text goes with the first.
            found.append(item if item[0] != "call" else ["assistant", item[2] if item[1] == 0 else "", [item[3]]])
        return found, None


def start(variant):
    return {
        "80": lambda: Condenser(max_size=80, keep_first=4),
        "30": lambda: Condenser(max_size=30, keep_first=2),
    }[variant]()


serve(start, "openhands-sdk")
