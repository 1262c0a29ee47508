"""Code of agent libraries, as they ship it, does what an equal policy in TOML does. Each test needs its library."""

import importlib
import re
from pathlib import Path

import pytest

import recompact

SESSIONS = [f"fixtures/transcripts/{name}" for name in ("claude-code", "codex", "messages", "openai-chat")]


def policy(settings):
    return f'name = "toml"\n[[layer]]\nid = "one"\n{settings}'


def replayed(own, *others):
    results = recompact.replay(SESSIONS, [own, *others], findings=True, progress=False)
    assert {row["policy"] for row in results.rows} >= {own.name, "toml"}
    return {name: results.to_pandas().query("policy == @name").reset_index(drop=True) for name in (own.name, "toml")}


def must_be_same(own, settings):
    """Replays both: every value of every conversation is the same, and something was removed."""
    tables = replayed(own, policy(settings))
    one, other = tables[own.name].drop(columns="policy"), tables["toml"].drop(columns="policy")
    assert len(one) == 12 and one["tokens.saved"].max() > 0.3
    assert one.equals(other), one.compare(other)


def test_langchain_clears_as_the_layer_clear():
    pytest.importorskip("langchain")
    from langchain.agents.middleware import ClearToolUsesEdit

    from recompact.adapters import langchain

    must_be_same(
        langchain.context_editing(ClearToolUsesEdit(trigger=0, keep=3, placeholder="[cleared]")),
        'do = "clear"\nscope = "request"\nkeep_recent_results = 3\nmin_chars = 0\nprotect_unseen = false\nplaceholder = "[cleared]"\n',
    )


def test_langchain_asks_the_summarizer_of_the_study():
    pytest.importorskip("langchain")
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    from recompact.adapters import langchain

    middleware = SummarizationMiddleware(FakeListChatModel(responses=["x"]), trigger=("messages", 50), keep=("messages", 20))
    own = langchain.summarization(middleware)
    results = recompact.replay("fixtures/transcripts/messages", own, summarizer="fixed:All is well.", progress=False)
    assert results.total(own.name, "summaries") > 0 and results.total(own.name, "broken.requests") == 0


def test_google_adk_filters_as_the_layer_keep():
    pytest.importorskip("google.adk")
    from google.adk.plugins.context_filter_plugin import ContextFilterPlugin

    from recompact.adapters import google_adk

    must_be_same(
        google_adk.context_filter(ContextFilterPlugin(num_invocations_to_keep=1)),
        'do = "keep"\nscope = "request"\nkeep_recent_turns = 1\nkeep_first = 0\n',
    )


def test_pydantic_ai_processes_as_the_layer_drop():
    pytest.importorskip("pydantic_ai")
    from recompact.adapters import pydantic_ai

    def keep_recent(messages):
        return messages[:1] + messages[1:][-20:]

    must_be_same(pydantic_ai.history_processor(keep_recent), 'do = "drop"\nmax_messages = 21\nkeep_first = 1\ncut = "anywhere"\n')


def test_pydantic_ai_may_write_its_own_messages():
    pytest.importorskip("pydantic_ai")
    from pydantic_ai.messages import ModelRequest, ToolReturnPart

    from recompact.adapters import pydantic_ai

    async def short(messages):
        def cut(part):
            is_long = isinstance(part, ToolReturnPart) and len(part.content) > 2_000
            return ToolReturnPart(part.tool_name, part.content[:2_000], part.tool_call_id) if is_long else part

        def changed(message):
            parts = [cut(part) for part in message.parts]
            return message if all(a is b for a, b in zip(parts, message.parts)) else ModelRequest(parts=parts)

        return [changed(message) for message in messages]

    must_be_same(
        pydantic_ai.history_processor(short, name="short"),
        'do = "truncate"\nwhen = "entry"\nmax_chars = 2_000\nkeep_head = 2_000\nkeep_tail = 0\nmarker = ""\n',
    )


def test_other_libraries_remove_something():
    """What these do no layer does exactly, so the test says only that they work and break nothing that they should not."""
    makers = {
        "agent_framework": lambda module: module.compaction(
            importlib.import_module("agent_framework").SlidingWindowStrategy(keep_last_groups=10)
        ),
        "agents": lambda module: module.input_filter(
            importlib.import_module("agents.extensions").ToolOutputTrimmer(
                recent_turns=1, max_output_chars=500, preview_chars=200
            )
        ),
        "strands": lambda module: module.conversation_manager(
            lambda: importlib.import_module("strands.agent.conversation_manager").SlidingWindowConversationManager(
                window_size=20, per_turn=True
            )
        ),
    }
    modules = {"agents": "openai_agents"}
    ran = 0
    for library, make in makers.items():
        try:
            importlib.import_module(library)
        except ImportError:
            continue
        own = make(importlib.import_module(f"recompact.adapters.{modules.get(library, library)}"))
        results = recompact.replay("fixtures/transcripts/codex", own, progress=False)
        assert results.total(own.name, "tokens.saved") > 0.3, own.name
        ran += 1
    if not ran:
        pytest.skip("none of these libraries is installed")


def test_every_adapter_is_in_the_catalog(capfd):
    from recompact import _native

    assert _native.run(["recompact", "catalog", "adapters"]) == 0
    listed = re.findall(r"^  (\w+)  ", capfd.readouterr().out, re.MULTILINE)
    modules = {path.stem for path in Path(recompact.__file__).with_name("adapters").glob("[a-z]*.py")}
    assert sorted(listed) == sorted(modules)
