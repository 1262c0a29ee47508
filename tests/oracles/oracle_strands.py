# /// script
# dependencies = ["strands-agents==1.62.0"]
# ///
"""The conversation managers of Strands Agents, on messages as its agents store them."""

import types

from strands.agent.conversation_manager import SlidingWindowConversationManager, SummarizingConversationManager

from recordings import batches, serve


def to_strands(batch):
    match batch:
        case [["user", text]]:
            return {"role": "user", "content": [{"text": text}]}
        case [["assistant", text, calls]]:
            calls = [{"toolUse": {"toolUseId": call, "name": name, "input": args}} for call, name, args in calls]
            return {"role": "assistant", "content": [{"text": text}] + calls}
        case results:
            result = lambda call, text: {"toolResult": {"toolUseId": call, "status": "success", "content": [{"text": text}]}}
            return {"role": "user", "content": [result(call, text) for _, call, text in results]}


def to_items(message):
    parts = message["content"]
    if message["role"] == "assistant":
        calls = [part["toolUse"] for part in parts if "toolUse" in part]
        return [["assistant", parts[0]["text"], [[call["toolUseId"], call["name"], call["input"]] for call in calls]]]
    if "text" in parts[0]:
        return [["user", parts[0]["text"]]]
    return [["result", part["toolResult"]["toolUseId"], part["toolResult"]["content"][0]["text"]] for part in parts]


class Window:
    """Applied after a turn, or before every call, as `per_turn` says."""

    def __init__(self, per_turn=False, **settings):
        self.manager = SlidingWindowConversationManager(per_turn=per_turn, **settings)
        self.per_turn, self.agent = per_turn, types.SimpleNamespace(messages=[])

    def request(self, new):
        for batch in batches(new):
            self.agent.messages.append(to_strands(batch))
            ends_turn = batch[0][0] == "assistant" and not batch[0][2]
            if ends_turn and not self.per_turn:
                self.manager.apply_management(self.agent)
        if self.per_turn:
            self.manager.apply_management(self.agent)
        return [item for message in self.agent.messages for item in to_items(message)], None


class Model:
    """A model that always answers the same."""

    async def stream(self, *_, **__):
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockDelta": {"delta": {"text": "SUMMARY"}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


class Summarizing:
    """The original summarises when the provider refuses a request. Here it does so once before each call, above a number of messages."""

    def __init__(self, threshold, **settings):
        self.threshold, self.manager = threshold, SummarizingConversationManager(**settings)
        self.agent = types.SimpleNamespace(messages=[], aux_model=Model())

    def request(self, new):
        self.agent.messages += map(to_strands, batches(new))
        if len(self.agent.messages) > self.threshold:
            self.manager.reduce_context(self.agent)
        return [item for message in self.agent.messages for item in to_items(message)], None


def start(variant):
    return {
        "window": lambda: Window(),
        "window-low": lambda: Window(window_size=11),
        "window-per-call": lambda: Window(per_turn=True),
        "window-per-call-low": lambda: Window(per_turn=True, window_size=15),
        "summarizing-40": lambda: Summarizing(40),
        "summarizing-15": lambda: Summarizing(15, summary_ratio=0.6, preserve_recent_messages=5),
    }[variant]()


serve(start, "strands-agents")
