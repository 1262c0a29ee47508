# /// script
# dependencies = ["autogen-core==0.7.5"]
# ///
"""AutoGen's model contexts."""

import asyncio
import json

from autogen_core import FunctionCall
from autogen_core.model_context import BufferedChatCompletionContext, HeadAndTailChatCompletionContext
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


class ModelContext:
    def __init__(self, context):
        self.context = context

    def request(self, new):
        return asyncio.run(self.add_and_get(new)), None

    async def add_and_get(self, new):
        for batch in batches(new):
            await self.context.add_message(to_autogen(batch))
        return [item for message in await self.context.get_messages() for item in to_items(message)]


def start(variant):
    return {
        "buffered": lambda: ModelContext(BufferedChatCompletionContext(buffer_size=10)),
        "buffered-odd": lambda: ModelContext(BufferedChatCompletionContext(buffer_size=7)),
        "head-and-tail": lambda: ModelContext(HeadAndTailChatCompletionContext(head_size=1, tail_size=10)),
        "head-and-tail-odd": lambda: ModelContext(HeadAndTailChatCompletionContext(head_size=1, tail_size=13)),
    }[variant]()


serve(start, "autogen-core")
