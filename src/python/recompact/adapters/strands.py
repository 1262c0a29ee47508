"""Strands Agents: the conversation manager `SlidingWindowConversationManager`.

```python
from strands.agent.conversation_manager import SlidingWindowConversationManager
from recompact.adapters import strands

recompact.replay("runs", strands.conversation_manager(lambda: SlidingWindowConversationManager(window_size=40)))
```

The window is applied when a turn ends, or before every call with `per_turn=True`. What it does when a provider refuses a request is
not replayed.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from strands.agent.conversation_manager import ConversationManager

from ..policy import Function, Message
from ._converted import adapter, blocks_of, result_text


def conversation_manager(make: Callable[[], ConversationManager], *, name: str = "strands-window") -> Function:
    """Returns a conversation manager as a policy. `make` is called for each session, because a manager has state."""

    def begin() -> Any:
        manager = make()
        shown = 0

        def edit(request: Any, messages: list[dict[str, Any]], _: Any) -> list[dict[str, Any]]:
            nonlocal shown
            before, new = messages[:shown], messages[shown:]
            if getattr(manager, "per_turn", False):
                before, new = messages, []
            elif new and new[0]["role"] == "assistant":
                # The response belongs to the turn that it ends.
                before, new = [*before, new[0]], new[1:]
            agent = SimpleNamespace(messages=before)
            ends_turn = bool(before) and not any("toolUse" in part for part in before[-1]["content"])
            if getattr(manager, "per_turn", False) or (ends_turn and before[-1]["role"] == "assistant"):
                manager.apply_management(agent)  # type: ignore[arg-type]
            sent = [*agent.messages, *new]
            shown = len(sent)
            return sent

        return edit

    return adapter(name, (to_strands, to_message), begin, "anthropic")


def to_strands(message: Message) -> dict[str, Any]:
    """Returns a message in Anthropic's form as Strands has it."""
    return {"role": message["role"], "content": [part for block in blocks_of(message) for part in _parts(block)]}


def _parts(block: dict[str, Any]) -> list[dict[str, Any]]:
    if block["type"] == "text":
        return [{"text": block["text"]}]
    if block["type"] == "tool_use":
        return [{"toolUse": {"toolUseId": block["id"], "name": block["name"], "input": block["input"]}}]
    if block["type"] == "tool_result":
        content = [{"text": result_text(block)}]
        return [{"toolResult": {"toolUseId": block["tool_use_id"], "status": "success", "content": content}}]
    return []


def to_message(made: dict[str, Any]) -> Message:
    """Returns a message of Strands in Anthropic's form."""

    def block(part: dict[str, Any]) -> dict[str, Any]:
        if "toolUse" in part:
            call = part["toolUse"]
            return {"type": "tool_use", "id": call["toolUseId"], "name": call["name"], "input": call["input"]}
        if "toolResult" in part:
            result = part["toolResult"]
            text = "\n".join(content.get("text", "") for content in result["content"])
            return {"type": "tool_result", "tool_use_id": result["toolUseId"], "content": text}
        return {"type": "text", "text": part.get("text", "")}

    return {"role": made["role"], "content": [block(part) for part in made["content"]]}
