"""OpenHands' agent SDK: its condensers, such as `LLMSummarizingCondenser`.

Install `recompact` and `openhands-sdk`.

```python
import recompact
from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.sdk.testing import TestLLM
from recompact.adapters import openhands

condenser = LLMSummarizingCondenser(llm=TestLLM.from_messages([]), max_size=80, keep_first=4)
recompact.replay("runs", openhands.condenser(condenser))
```

The condenser's own model is not asked: the summarizer of the study writes the summaries, with the condenser's prompt. What it does when
a provider refuses a request is not replayed. Set `LITELLM_LOCAL_MODEL_COST_MAP=True` before Python starts: without it, importing the
SDK asks the network for a list of prices.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from openhands.sdk.context.condenser import CondenserBase, PipelineCondenser
from openhands.sdk.context.view import View
from openhands.sdk.event import (
    ActionEvent,
    Condensation,
    CondensationSummaryEvent,
    LLMConvertibleEvent,
    MessageEvent,
    ObservationEvent,
    SystemPromptEvent,
)
from openhands.sdk.llm import LLMResponse, MessageToolCall, TextContent
from openhands.sdk.llm import Message as SdkMessage
from openhands.sdk.testing import TestLLM
from openhands.sdk.tool import Action, Observation

from ..policy import Function, Message, NoSummary, PolicyFunction, Request
from ._converted import Converted, text_of

#: Most tokens of a summary, if the study's summarizer has no limit of its own.
MAX_SUMMARY_TOKENS = 8_000


class RecordedAction(Action):
    """A tool call of a recording, whatever its input."""


class RecordedObservation(Observation):
    """The result of a recorded tool call."""


class _Prompts(TestLLM):
    """Remembers the prompt in place of writing a summary."""

    def completion(self, messages: list[SdkMessage], *_: Any, **__: Any) -> LLMResponse:
        self._prompt = [text.text for message in messages for text in message.content if isinstance(text, TextContent)]
        return TestLLM.from_messages([SdkMessage(role="assistant", content=[TextContent(text="")])]).completion(messages)

    def prompt(self) -> tuple[str, str]:
        """Returns the instructions, and the text with the events, with the placeholder of the study in their place."""
        system, events = self._prompt
        return system, re.sub(r"<EVENT>.*</EVENT>", "{conversation}", events, flags=re.DOTALL)


def condenser(condenser: CondenserBase, *, name: str = "openhands-condenser") -> Function:
    """Returns a condenser as a policy. What it forgets leaves the history, and a summary takes its place."""

    def begin() -> PolicyFunction:
        prompts = _Prompts(model="none")
        own, events = _asking(condenser, prompts), _Events()
        converted = Converted(events.of, to_message)

        def policy(request: Request) -> list[Message]:
            held = converted.objects(request.messages)
            view = View.from_events([events.system, *itertools.chain.from_iterable(held)])
            while isinstance(condensation := own.condense(view), Condensation):
                forgotten = [of for of in held if any(event.id in condensation.forgotten_event_ids for event in of)]
                if condensation.summary is not None:
                    system, prompt = prompts.prompt()
                    try:
                        summary = request.summarize(
                            converted.messages(forgotten), prompt, system=system, max_tokens=MAX_SUMMARY_TOKENS
                        )
                    except NoSummary:
                        # Without a summary the SDK sends the view as it is.
                        break
                    condensation = condensation.model_copy(update={"summary": summary})
                view = View.from_events([*view.events, condensation])
            return converted.messages(_held(view, held))

        return policy

    return Function(begin, name, "openai")


def _asking(condenser: CondenserBase, llm: _Prompts) -> CondenserBase:
    if isinstance(condenser, PipelineCondenser):
        return condenser.model_copy(update={"condensers": [_asking(inner, llm) for inner in condenser.condensers]})
    return condenser.model_copy(update={"llm": llm} if condenser.get_llm() else {})


class _Events:
    """The events of one session. Each call of a response is an event, and so is each result."""

    def __init__(self) -> None:
        self.system = SystemPromptEvent(source="agent", system_prompt=TextContent(text=""), tools=[])
        self._actions: dict[str, ActionEvent] = {}
        self._responses = itertools.count()

    def of(self, message: Message) -> list[LLMConvertibleEvent]:
        """Returns a message in OpenAI's form as the SDK has it."""
        text = TextContent(text=text_of(message))
        if message["role"] == "tool":
            call = message["tool_call_id"]
            action = self._actions.get(call)
            observation = RecordedObservation.from_text(text.text)
            of = (action.id, action.tool_name) if action else ("", "")
            return [ObservationEvent(observation=observation, action_id=of[0], tool_name=of[1], tool_call_id=call)]
        calls = message.get("tool_calls")
        if not calls:
            said = SdkMessage(role=message["role"], content=[text])
            return [MessageEvent(source="user" if message["role"] == "user" else "agent", llm_message=said)]
        response = f"response-{next(self._responses)}"
        made = [self._action(call, response, [text] if at == 0 else []) for at, call in enumerate(calls)]
        self._actions.update((action.tool_call_id, action) for action in made)
        return list(made)

    def _action(self, call: dict[str, Any], response: str, thought: list[TextContent]) -> ActionEvent:
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        return ActionEvent(
            thought=thought,
            action=RecordedAction(),
            tool_name=name,
            tool_call_id=call["id"],
            tool_call=MessageToolCall(id=call["id"], name=name, arguments=arguments, origin="completion"),
            llm_response_id=response,
        )


def _held(view: View, held: list[list[LLMConvertibleEvent]]) -> list[list[LLMConvertibleEvent]]:
    """Returns the messages of a view, as lists of their events. A summary is a message of its own."""
    message_of = {event.id: events for events in held for event in events}
    kept: list[list[LLMConvertibleEvent]] = []
    for event in view.events[1:]:
        events = message_of.get(event.id) or [event]
        if not kept or kept[-1] is not events:
            kept.append(events)
    return kept


def to_message(events: list[LLMConvertibleEvent]) -> Message:
    """Returns a summary, the only thing that a condenser writes, in OpenAI's form."""
    [summary] = events
    assert isinstance(summary, CondensationSummaryEvent)
    return {"role": "user", "content": summary.summary}
