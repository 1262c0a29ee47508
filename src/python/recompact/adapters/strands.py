"""Strands Agents: the conversation manager `SlidingWindowConversationManager`.

Install `recompact` and `strands-agents`.

```python
import recompact
from strands.agent.conversation_manager import SlidingWindowConversationManager
from recompact.adapters import strands

recompact.replay("runs", strands.conversation_manager(lambda: SlidingWindowConversationManager(window_size=40)))
```

The window is applied when a turn ends, or before every call with `per_turn=True`. What it does when a provider refuses a request is
not replayed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from strands.agent.conversation_manager import ConversationManager

from ..policy import Function, Message
from ._converted import adapter, text_of


def conversation_manager(make: Callable[[], ConversationManager], *, name: str = "strands-conversation-manager") -> Function:
    """Returns a conversation manager as a policy. `make` is called for each session, because a manager has state."""

    def begin() -> Any:
        manager = make()
        is_per_turn = getattr(manager, "per_turn", False)
        shown = 0

        def edit(request: Any, held: list[dict[str, Any]], _: Any) -> list[dict[str, Any]]:
            nonlocal shown
            groups = _grouped(held)
            messages = [_joined(group) for group in groups]
            before, new = messages[:shown], messages[shown:]
            if is_per_turn:
                before, new = [*messages], []
            elif new and new[0]["role"] == "assistant":
                # The response belongs to the turn that it ends.
                before, new = [*before, new[0]], new[1:]
            agent = SimpleNamespace(messages=before)
            if is_per_turn or (before and _ends_turn(before[-1])):
                manager.apply_management(agent)  # type: ignore[arg-type]
            sent = [*agent.messages, *new]
            shown = len(sent)
            group_of = {id(message): group for message, group in zip(messages, groups)}
            return [part for message in sent for part in group_of.get(id(message)) or _split(message)]

        return edit

    return adapter(name, (to_strands, to_message), begin)


def _ends_turn(message: dict[str, Any]) -> bool:
    """Whether it is a response with a text that calls no tool: one that has thinking only was interrupted."""
    content = message["content"]
    return message["role"] == "assistant" and any("text" in part for part in content) and not any("toolUse" in part for part in content)


def _is_result(made: dict[str, Any]) -> bool:
    return "toolResult" in made["content"][0] if made["content"] else False


def _grouped(held: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Returns the messages of the library, in which the results of one response are one message."""
    groups: list[list[dict[str, Any]]] = []
    for made in held:
        if groups and _is_result(made) and _is_result(groups[-1][0]):
            groups[-1].append(made)
        else:
            groups.append([made])
    return groups


def _joined(group: list[dict[str, Any]]) -> dict[str, Any]:
    if len(group) == 1:
        return group[0]
    return {"role": "user", "content": [part for made in group for part in made["content"]]}


def _split(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns a message that the library made, with each result apart."""
    if not _is_result(message):
        return [message]
    return [{"role": "user", "content": [part]} for part in message["content"]]


def to_strands(message: Message) -> dict[str, Any]:
    """Returns a message in OpenAI's form as Strands has it."""
    if message["role"] == "tool":
        content = [{"text": text_of(message)}]
        result = {"toolUseId": message["tool_call_id"], "status": "success", "content": content}
        return {"role": "user", "content": [{"toolResult": result}]}
    text = text_of(message)
    said: list[dict[str, Any]] = [{"text": text}] if text else []
    return {"role": message["role"], "content": said + [_call(call) for call in message.get("tool_calls") or ()]}


def _call(call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    return {"toolUse": {"toolUseId": call["id"], "name": function["name"], "input": json.loads(function["arguments"] or "{}")}}


def to_message(made: dict[str, Any]) -> Message:
    """Returns a message of Strands in OpenAI's form."""
    content = made["content"]
    if _is_result(made):
        result = content[0]["toolResult"]
        text = "\n".join(part.get("text", "") for part in result["content"])
        return {"role": "tool", "tool_call_id": result["toolUseId"], "content": text}
    message: Message = {"role": made["role"], "content": "\n".join(part["text"] for part in content if "text" in part)}
    calls = [
        {
            "id": part["toolUse"]["toolUseId"],
            "type": "function",
            "function": {"name": part["toolUse"]["name"], "arguments": json.dumps(part["toolUse"]["input"])},
        }
        for part in content
        if "toolUse" in part
    ]
    return message | ({"tool_calls": calls} if calls else {})
