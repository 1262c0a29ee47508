# /// script
# dependencies = ["llama-index-core==0.14.25"]
# ///
"""LlamaIndex's memory buffers. Each message is counted by the default tokenizer, one by one."""

import asyncio
import functools
import re

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer, ChatSummaryMemoryBuffer
from llama_index.core.memory import Memory as WaterfallMemory
from llama_index.core.utils import get_tokenizer

from recordings import serve

# Each content has a mark at both ends, so that the joined text of a buffer can be counted in its parts.
START, END = "\x1e", "\x1f"
CONTENT = re.compile(f"{START}(.*?){END}", re.DOTALL)


def marked(text):
    return START + text + END


class Summarizer(MockLLM):
    def chat(self, messages, **_):
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content="SUMMARY"))


@functools.cache
def tokens(content):
    return len(get_tokenizer()(content))


def count(text):
    """Counts what is marked, and the words outside: the summary, and `None` for a message without content."""
    return range(sum(map(tokens, CONTENT.findall(text) + CONTENT.sub("", text).split())))


def to_message(item):
    match item:
        case ["user", text]:
            return ChatMessage(role=MessageRole.USER, content=marked(text))
        case ["result", call, text]:
            return ChatMessage(role=MessageRole.TOOL, content=marked(text), additional_kwargs={"tool_call_id": call})
        case ["assistant", text, calls]:
            blocks = [TextBlock(text=marked(text))] if text else []
            blocks += [ToolCallBlock(tool_call_id=call, tool_name=name, tool_kwargs=args) for call, name, args in calls]
            return ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks)


def to_item(message):
    text = (message.content or "").removeprefix(START).removesuffix(END)
    match message.role:
        case MessageRole.USER | MessageRole.SYSTEM:
            return ["user", text]
        case MessageRole.TOOL:
            return ["result", message.additional_kwargs["tool_call_id"], text]
        case MessageRole.ASSISTANT:
            calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
            return ["assistant", text, [[call.tool_call_id, call.tool_name, call.tool_kwargs] for call in calls]]


class Memory:
    def __init__(self, memory):
        self.memory = memory

    def request(self, new):
        for item in new:
            self.memory.put(to_message(item))
        return [to_item(message) for message in self.memory.get()], None


def to_blocks(item):
    """A message with its texts apart, which a memory counts one by one."""
    kind, *_, text = item if item[0] != "assistant" else item[:2]
    message = to_message(item)
    texts = [TextBlock(text=part) for part in ([text] if kind == "result" else text.parts)]
    message.blocks = texts + [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    return message


def from_blocks(message):
    texts = [block for block in message.blocks if isinstance(block, TextBlock)]
    calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    joined = TextBlock(text="".join(block.text for block in texts))
    return to_item(ChatMessage(role=message.role, blocks=[joined, *calls], additional_kwargs=message.additional_kwargs))


def count_alone(text):
    """Counts one content, or the ids beside it."""
    return range(tokens(text))


LOOP = asyncio.new_event_loop()


class Waterfall:
    """A memory with its store in memory, for which one loop must run. The new messages of a request are put into it together."""

    def __init__(self, **settings):
        self.memory = WaterfallMemory.from_defaults(tokenizer_fn=count_alone, **settings)

    def request(self, new):
        if new:
            LOOP.run_until_complete(self.memory.aput_messages([to_blocks(item) for item in new]))
        messages = LOOP.run_until_complete(self.memory.aget())
        return [from_blocks(message) for message in messages], sum(map(self.memory._estimate_token_count, messages))


def start(variant):
    buffer = lambda limit: Memory(ChatMemoryBuffer.from_defaults(token_limit=limit, tokenizer_fn=count))
    summary = lambda limit: Memory(
        ChatSummaryMemoryBuffer.from_defaults(llm=Summarizer(), token_limit=limit, tokenizer_fn=count)
    )
    return {
        "buffer-3k": lambda: buffer(3_000),
        "buffer-30k": lambda: buffer(30_000),
        "summary-2k": lambda: summary(2_000),
        "memory-30k": Waterfall,
        "memory-4k": lambda: Waterfall(token_limit=4_000, token_flush_size=500),
        "summary-30k": lambda: summary(30_000),
    }[variant]()


serve(start, "llama-index-core")
