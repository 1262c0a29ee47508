"""Code of agent libraries, as they ship it, sends the requests of an equal policy in TOML. Each test needs its library.

`RECOMPACT_TRANSCRIPTS` names folders of recordings, separated by colons, over which requests are compared; without it these are the
recordings of the repository. `RECOMPACT_TURN` is a number: where a library is slow, it says which of the folders is compared.
"""

import json
import logging
import os
import re
import warnings
from collections import Counter
from pathlib import Path

import pytest

import recompact

SESSIONS = [f"fixtures/transcripts/{name}" for name in ("claude-code", "codex", "messages", "openai-chat")]
RECORDINGS = [folder for folder in os.environ.get("RECOMPACT_TRANSCRIPTS", "").split(":") if folder]
TURN = os.environ.get("RECOMPACT_TURN")
IN_TURN = [RECORDINGS[int(TURN) % len(RECORDINGS)]] if TURN and RECORDINGS else RECORDINGS


def policy(settings):
    return f'name = "toml"\n[[layer]]\nid = "one"\n{settings}'


def replayed(own, *others):
    results = recompact.replay(SESSIONS, [own, *others], findings=True, progress=False)
    assert {row["policy"] for row in results.rows} >= {own.name, "toml"}
    return {name: results.to_pandas().query("policy == @name").reset_index(drop=True) for name in (own.name, "toml")}


def must_be_same(own, settings, folders=RECORDINGS):
    """Replays both: every value of every conversation is the same, something was removed, and so are the requests."""
    tables = replayed(own, policy(settings))
    one, other = tables[own.name].drop(columns="policy"), tables["toml"].drop(columns="policy")
    assert len(one) == 12 and one["tokens.saved"].max() > 0.3
    assert one.equals(other), one.compare(other)
    must_send_the_same(own, policy(settings), folders=folders)


def must_send_the_same(own, other, *, folders=RECORDINGS, but=0.0, **settings):
    """Compares all requests. A library takes two calls with one id for one, so sessions with such ids are left out.

    `but`: the share of conversations that may differ for a reason that the adapter's page names.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", recompact.RecompactWarning)
        compared = recompact.compare(folders or SESSIONS, own, other, progress=False, **settings)
        transcripts = {difference.transcript for difference in compared.differences}
        reused = {
            (session.transcript, session.name)
            for session in (recompact.read(sorted(transcripts), progress=False) if transcripts else [])
            if reuses_ids(session.messages)
        }
    assert compared.requests > (2_000 if folders else 500)
    found = [(of.transcript, of.conversation, of.call) for of in compared.differences]
    found = [of for of in found if of[:2] not in reused]
    assert len(found) <= but * compared.conversations, found


def reuses_ids(messages):
    blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    return max(Counter(block["id"] for block in blocks if block["type"] == "tool_use").values(), default=0) > 1


def test_langchain_clears_as_the_layer_clear():
    pytest.importorskip("langchain")
    from langchain.agents.middleware import ClearToolUsesEdit

    from recompact.adapters import langchain

    must_be_same(
        langchain.context_editing(ClearToolUsesEdit(trigger=0, keep=3, placeholder="[cleared]")),
        'do = "clear"\nscope = "request"\nkeep_recent_results = 3\nmin_chars = 0\nempty_too = true\nprotect_unseen = false\nplaceholder = "[cleared]"\n',
        folders=IN_TURN,
    )


def talk(path, *messages):
    """Writes a conversation: roles and contents."""
    lines = [json.dumps({"role": role, "content": content}) for role, content in messages]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_langchain_counts_the_calls_of_a_response_with_two_texts(tmp_path):
    pytest.importorskip("langchain")
    from langchain.agents.middleware import ClearToolUsesEdit

    from recompact.adapters import langchain

    messages = [("user", "Write four files.")]
    for at in range(4):
        said = [{"type": "text", "text": "Next. "}, {"type": "text", "text": "I write it."}]
        call = {"type": "tool_use", "id": f"w{at}", "name": "Write", "input": {"path": f"{at}.py", "content": "a = 1; " * 100}}
        messages += [("assistant", [*said, call]), ("user", [{"type": "tool_result", "tool_use_id": f"w{at}", "content": "ok " * 30}])]
    path = talk(tmp_path / "texts.messages.jsonl", *messages, ("assistant", "Done."))
    # Nearly all tokens are in the calls: 4 × 700 characters; without them nothing is cleared.
    own = langchain.context_editing(ClearToolUsesEdit(trigger=600, keep=1))
    clear = 'name = "toml"\nmessages = "each-result"\nmeter = "langchain"\n[[layer]]\nid = "one"\ndo = "clear"\nscope = "request"\n'
    clear += 'threshold = 600\nkeep_recent_results = 1\nempty_too = true\nplaceholder = "[cleared]"\n'
    assert recompact.compare(path, own, clear)
    assert not recompact.compare(path, own, "keep-all")


def test_langchain_keeps_the_texts_of_a_response_whose_call_it_clears(tmp_path):
    pytest.importorskip("langchain")
    from langchain.agents.middleware import ClearToolUsesEdit

    from recompact.adapters import langchain

    messages = [("user", "Write two files.")]
    for at in range(2):
        said = [{"type": "text", "text": "Next. "}, {"type": "text", "text": "I write it."}]
        call = {"type": "tool_use", "id": f"w{at}", "name": "Write", "input": {"path": f"{at}.py"}}
        messages += [("assistant", [*said, call]), ("user", [{"type": "tool_result", "tool_use_id": f"w{at}", "content": "ok"}])]
    path = talk(tmp_path / "texts.messages.jsonl", *messages, ("assistant", "Done."))
    own = langchain.context_editing(ClearToolUsesEdit(trigger=0, keep=1, clear_tool_inputs=True))
    sent = recompact.show(path, own).messages[1]["content"]
    assert [block.get("text", block.get("input")) for block in sent] == ["Next. ", "I write it.", {}]


def test_strands_ends_no_turn_with_a_response_of_thinking_only(tmp_path):
    """Its model was interrupted before it said something."""
    pytest.importorskip("strands")
    from strands.agent.conversation_manager import SlidingWindowConversationManager

    from recompact.adapters import strands

    thought = [{"type": "thinking", "thinking": "", "signature": "c2ln"}]
    messages = [("user", "Begin."), ("assistant", "Yes."), ("user", "Go on."), ("assistant", thought), ("user", "Go on."), ("assistant", "Done.")]
    path = talk(tmp_path / "thought.messages.jsonl", *messages)
    own = strands.conversation_manager(lambda: SlidingWindowConversationManager(window_size=2))
    assert recompact.compare(path, own, "strands-window", set="window.max_messages=2", thinking="all")


def test_langchain_summarizes_as_its_preset():
    pytest.importorskip("langchain")
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    from recompact.adapters import langchain

    middleware = SummarizationMiddleware(FakeListChatModel(responses=["x"]), trigger=("messages", 50), keep=("messages", 20))
    own = langchain.summarization(middleware)
    must_send_the_same(own, "langchain-summarize", thinking="none", summarizer="fixed:All is well.")


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

    own = google_adk.context_filter(ContextFilterPlugin(num_invocations_to_keep=1))
    keep = 'do = "keep"\nscope = "request"\nkeep_recent_turns = 1\nkeep_first = 0\n'
    tables = replayed(own, policy(keep))
    assert tables[own.name].drop(columns="policy").equals(tables["toml"].drop(columns="policy"))
    # Some recordings have messages that their harness wrote in the user's name.
    must_send_the_same(own, policy(keep), but=0.05)


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


@pytest.mark.parametrize(("per_turn", "when"), [(False, "turn-end"), (True, "always")])
def test_strands_cuts_as_its_preset(per_turn, when):
    pytest.importorskip("strands")
    from strands.agent.conversation_manager import SlidingWindowConversationManager

    from recompact.adapters import strands

    own = strands.conversation_manager(lambda: SlidingWindowConversationManager(per_turn=per_turn))
    must_send_the_same(own, "strands-window", thinking="none", set=[f"window.when={when}"])


def test_openai_agents_trims_as_its_preset():
    pytest.importorskip("agents")
    from agents.extensions import ToolOutputTrimmer

    from recompact.adapters import openai_agents

    # The filter works on every request anew, so the first folder is enough.
    own = openai_agents.input_filter(ToolOutputTrimmer())
    must_send_the_same(own, "openai-agents-trimmer", folders=RECORDINGS[:1], thinking="none")


@pytest.fixture
def openhands(monkeypatch):
    """The adapter of OpenHands, whose SDK asks no network and says nothing while it is imported and used."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    monkeypatch.setenv("OPENHANDS_SUPPRESS_BANNER", "1")
    pytest.importorskip("openhands.sdk")
    from recompact.adapters import openhands

    logging.getLogger("openhands").setLevel(logging.ERROR)
    return openhands


def condenser(max_size, keep_first):
    from openhands.sdk.context.condenser import LLMSummarizingCondenser
    from openhands.sdk.testing import TestLLM

    return LLMSummarizingCondenser(llm=TestLLM.from_messages([]), max_size=max_size, keep_first=keep_first)


@pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict")
def test_openhands_condenses_as_its_preset(openhands):
    own = openhands.condenser(condenser(80, 4))
    must_send_the_same(own, "openhands", thinking="none", summarizer="fixed:All is well.")


@pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict")
def test_openhands_asks_the_summarizer_of_the_study(openhands):
    from openhands.sdk.context.condenser import PipelineCondenser

    own = openhands.condenser(condenser(30, 2))
    piped = openhands.condenser(PipelineCondenser(condensers=[condenser(30, 2)]), name="piped")
    results = recompact.replay("fixtures/transcripts/messages", [own, piped], summarizer="extract", progress=False)
    assert results.total(own.name, "summaries") > 2 and results.total(own.name, "broken.requests") == 0
    assert results.total(own.name, "kept.hit") == results.total("piped", "kept.hit") > 0


@pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict")
def test_openhands_goes_on_without_a_summary(openhands):
    own = openhands.condenser(condenser(30, 2))
    results = recompact.replay("fixtures/transcripts/messages", own, summarizer="failing", progress=False)
    assert results.total(own.name, "tokens.saved") == 0


def test_agent_framework_removes_old_groups():
    """No layer does exactly what its strategies do, so the test says only that one works."""
    pytest.importorskip("agent_framework")
    from agent_framework import SlidingWindowStrategy

    from recompact.adapters import agent_framework

    own = agent_framework.compaction(SlidingWindowStrategy(keep_last_groups=10))
    results = recompact.replay("fixtures/transcripts/codex", own, progress=False)
    assert results.total(own.name, "tokens.saved") > 0.3


def test_every_adapter_is_in_the_catalog(capfd):
    from recompact import _native

    assert _native.run(["recompact", "catalog", "adapters"]) == 0
    listed = re.findall(r"^  (\w+)  ", capfd.readouterr().out, re.MULTILINE)
    modules = {path.stem for path in Path(recompact.__file__).with_name("adapters").glob("[a-z]*.py")}
    assert sorted(listed) == sorted(modules)
