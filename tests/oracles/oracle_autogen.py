# /// script
# dependencies = ["autogen-core==0.7.5"]
# ///
"""AutoGen's model contexts."""

import asyncio
import json

from autogen_core import FunctionCall
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    HeadAndTailChatCompletionContext,
    TokenLimitedChatCompletionContext,
)
from autogen_core.models import AssistantMessage, FunctionExecutionResult, FunctionExecutionResultMessage, UserMessage

from recordings import batches, serve


def to_autogen(batch):
    match batch:
        case [["user", text]]:
            return UserMessage(content=text, source="user")
        case [["assistant", text, []]]:
            return AssistantMessage(content=text, source="assistant")
        case [["assistant", text, calls]]:
            calls = [FunctionCall(id=call, name=name, arguments=json.dumps(args)) for call, name, args in calls]
            return AssistantMessage(content=calls, thought=text, source="assistant")
        case results:
            results = [FunctionExecutionResult(call_id=call, name="", content=text, is_error=False) for _, call, text in results]
            return FunctionExecutionResultMessage(content=results)


def to_items(message):
    match message:
        case UserMessage():
            return [["user", message.content]]
        case AssistantMessage(content=str()):
            return [["assistant", message.content, []]]
        case AssistantMessage():
            return [["assistant", message.thought, [[call.id, call.name, json.loads(call.arguments)] for call in message.content]]]
        case FunctionExecutionResultMessage():
            return [["result", result.call_id, result.content] for result in message.content]


class CharactersByFour:
    """The part of a model client that a context asks: how many tokens messages have. Each client counts in its own way."""

    def __init__(self):
        self.known = {}

    def know(self, message):
        self.known[id(message)] = sum(map(characters, to_items(message)))

    def count_tokens(self, messages, *, tools):
        return sum(map(self.known.__getitem__, map(id, messages))) // 4


def characters(item):
    match item:
        case ["assistant", text, calls]:
            of_calls = [len(name) + len(json.dumps(args, ensure_ascii=False, separators=(",", ":"))) for _, name, args in calls]
            return len(text) + sum(of_calls)
        case [*_, text]:
            return len(text)


class ModelContext:
    def __init__(self, context, client=None):
        self.context, self.client, self.first = context, client, []

    def request(self, new):
        return asyncio.run(self.add_and_get(new)), None

    async def add_and_get(self, new):
        for batch in batches(new):
            message = to_autogen(batch)
            if self.client:
                self.client.know(message)
            self.first = self.first or [message]
            await self.context.add_message(message)
        # The preset keeps the first message where the original sends none.
        messages = await self.context.get_messages() or self.first
        return [item for message in messages for item in to_items(message)]


def token_limited(limit):
    client = CharactersByFour()
    return ModelContext(TokenLimitedChatCompletionContext(client, token_limit=limit), client)


def start(variant):
    return {
        "buffered": lambda: ModelContext(BufferedChatCompletionContext(buffer_size=10)),
        "buffered-odd": lambda: ModelContext(BufferedChatCompletionContext(buffer_size=7)),
        "head-and-tail": lambda: ModelContext(HeadAndTailChatCompletionContext(head_size=1, tail_size=10)),
        "head-and-tail-odd": lambda: ModelContext(HeadAndTailChatCompletionContext(head_size=1, tail_size=13)),
        "token-limited-50k": lambda: token_limited(50_000),
        "token-limited-5k": lambda: token_limited(5_000),
    }[variant]()


serve(start, "autogen-core")
