"""A policy in Python is measured as the same policy in TOML, whatever way it returns its messages."""

import copy
import json
import random
import sys
import traceback
from pathlib import Path

import pytest

import recompact
from recompact._alignment import Entry, aligned

SESSIONS = ["fixtures/transcripts/codex", "fixtures/transcripts/claude-code", "fixtures/transcripts/messages"]

CLEAR = """
name = "toml"
[[layer]]
id = "old"
do = "clear"
keep_recent_results = 3
min_chars = 0
protect_unseen = false
placeholder = "[cleared]"
"""


def results_in(messages):
    blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    return [block for block in blocks if block["type"] == "tool_result"]


def in_place(request):
    for block in results_in(request.messages)[:-3]:
        block["content"] = "[cleared]"


def in_copies(request):
    messages = copy.deepcopy(request.messages)
    for block in results_in(messages)[:-3]:
        block["content"] = "[cleared]"
    return messages


def in_some_copies(request):
    old = {id(block) for block in results_in(request.messages)[:-3]}

    def cleared(message):
        if not any(id(block) in old for block in results_in([message])):
            return message
        blocks = [{**block, "content": "[cleared]"} if id(block) in old else block for block in message["content"]]
        return {**message, "content": blocks}

    return [cleared(message) for message in request.messages]


class WithState:
    """Remembers what it has cleared."""

    def __init__(self):
        self.cleared = set()

    def __call__(self, request):
        for block in results_in(request.messages)[:-3]:
            if block["tool_use_id"] not in self.cleared:
                self.cleared.add(block["tool_use_id"])
                block["content"] = "[cleared]"


def in_openai_form(request):
    for message in [message for message in request.messages if message["role"] == "tool"][:-3]:
        message["content"] = "[cleared]"
    return request.messages


def has_text(content):
    """The layer leaves results without a text as they are."""
    return any(part.get("text") for part in content) if isinstance(content, list) else content != ""


def for_each_request(request):
    request.scope = "request"
    for block in results_in(request.messages)[:-3]:
        if has_text(block["content"]):
            block["content"] = "[cleared]"


def for_each_request_in_openai_form(request):
    request.scope = "request"
    for message in [message for message in request.messages if message["role"] == "tool"][:-3]:
        if has_text(message["content"]):
            message["content"] = "[cleared]"


def now_and_then_for_each_request(request):
    """What it cleared comes back at every fifth call, and one message has another text each time."""
    if request.call % 5:
        for_each_request(request)
        if request.call % 3 == 0:
            request.messages[0]["content"] = f"{request.call}"


def the_same_in_copies(request):
    messages, request.messages = request.messages, copy.deepcopy(request.messages)
    now_and_then_for_each_request(request)
    assert messages is not request.messages
    return request.messages


def same_values(policies, one, other):
    table = recompact.replay(SESSIONS, policies, findings=True).to_pandas().set_index("policy")
    one, other = table.loc[one].reset_index(drop=True), table.loc[other].reset_index(drop=True)
    assert len(one) > 3 and one["tokens.saved"].max() > 0.3
    assert one.equals(other), one.compare(other)


@pytest.mark.parametrize("policy", [in_place, in_copies, in_some_copies, WithState])
def test_clearing_is_the_layer_clear(policy):
    same_values([policy, CLEAR], policy.__name__, "toml")


def test_clearing_in_openai_form_is_the_layer_clear():
    same_values([recompact.policy.function(in_openai_form, shape="openai"), CLEAR], "in_openai_form", "toml")


VIEW = CLEAR.replace('do = "clear"', 'do = "clear"\nscope = "request"')


@pytest.mark.parametrize(
    "policy", [for_each_request, recompact.policy.function(for_each_request_in_openai_form, "for_each_request", shape="openai")]
)
def test_clearing_for_each_request_is_the_layer_clear(policy):
    same_values([policy, VIEW], "for_each_request", "toml")
    assert recompact.compare([*SESSIONS, "fixtures/transcripts/openai-chat", "fixtures/transcripts/pi"], policy, VIEW)


def test_answers_that_go_on_say_the_same_as_whole_ones():
    sessions = [*SESSIONS, "fixtures/transcripts/pi"]
    assert recompact.compare(sessions, now_and_then_for_each_request, the_same_in_copies)


def test_a_view_names_only_what_it_changes_beside_the_last():
    def clear(request):
        request.scope = "request"
        for message in request.messages[: -2 if request.call < 5 else -3]:
            message["content"] = "-" if message["role"] == "tool" else message["content"]

    session = recompact.policy.function(clear, shape="openai").open()
    session(json.dumps({"type": "start", "protocol": 1, "session": "s", "format": "f", "window": 9, "overhead": 0}).encode())

    def answer(call, *results, again, **other):
        messages = [{"id": id, "role": "tool", "tool_call_id": str(id), "content": "long"} for id in results]
        line = {"type": "request", "call": call, "estimate": 9, "last_read": None, "again": again, "inserted": [], "gone": [], "changed": []}
        answered = json.loads(session(json.dumps({**line, "messages": messages, **other}).encode()))
        return answered.get("again"), [message["replaces"] for message in answered.get("replace", [])]

    assert answer(1, 0, 1, 2, again=False) == (None, [[0]])
    assert answer(2, 3, again=True) == (True, [[1]])
    assert answer(3, again=True) == (True, [])
    # The history changed by itself: everything is named.
    assert answer(4, 4, again=False, gone=[0]) == (None, [[1], [2]])
    # One message less is cleared, which no addition can say.
    assert answer(5, again=True) == (None, [[1]])


def some_messages(count, chance):
    """Messages with one block or three, of which one has parts."""

    def block(at, nth):
        text = f"{at}.{nth}"
        return {"type": "tool_result", "tool_use_id": text, "content": [{"type": "text", "text": text}] if nth == 1 else text}

    return [{"role": "user", "content": [block(at, nth) for nth in range(chance.choice([1, 3]))]} for at in range(count)]


def edit_something(messages, chance, texts):
    """Edits in place, in one of the ways that a policy may: it need not be sensible."""
    message, other = chance.choice(messages), chance.choice(messages)
    block = chance.choice(message["content"]) if message["content"] else {}
    part = block["content"][0] if isinstance(block.get("content"), list) and block["content"] else block
    way = chance.randrange(10)
    if way < 3:
        block["content"] = chance.choice(texts)
    elif way == 3:
        block["content"] = [{"type": "text", "text": chance.choice(texts)}]
    elif way == 4:
        part["text"] = chance.choice(texts)
    elif way == 5:
        message["content"] = [{**block, "content": chance.choice(texts)} for block in message["content"]]
    elif way == 6:
        message["content"] = [*message["content"], *other["content"][:1]]
    elif way == 7:
        message["content"], message["role"] = other["content"], chance.choice(["user", "assistant"])
    elif way == 8:
        block.pop("content", None)
    else:
        message["content"].reverse()


def test_the_views_of_any_edits_in_place_are_as_if_made_anew():
    assert sum(map(answers_that_go_on, range(40))) > 100


def answers_that_go_on(seed):
    """Compares each view of a session with one that is made anew."""
    chance = random.Random(seed)
    lines, shown, view = some_messages(30, chance), [], {}
    # Most edits are made again at each call, as those of a policy are.
    edits = [chance.randrange(10_000) for _ in range(5)]

    def edit(messages):
        for number in edits:
            edit_something(messages, random.Random(number), ["-", "--"])

    def policy(request):
        request.scope = "request"
        edit(request.messages)

    session = recompact.policy.function(policy).open()
    session(json.dumps({"type": "start", "protocol": 1, "session": "s", "format": "f", "window": 9, "overhead": 0}).encode())
    went_on = 0
    for call in range(1, 21):
        new = lines[len(shown) : len(shown) + chance.choice([0, 1, 3]) + (call == 1)]
        line = {"type": "request", "call": call, "estimate": 9, "last_read": None, "again": call > 1, "inserted": [], "gone": [], "changed": []}
        messages = [{"id": id, **message} for id, message in enumerate(new, len(shown))]
        shown += new
        answer = json.loads(session(json.dumps({**line, "messages": messages}).encode()))
        went_on += "again" in answer
        view = view if answer.get("again") else {}
        view |= {message["replaces"][0]: message["content"] for message in answer.get("replace", [])}
        made = copy.deepcopy(shown)
        edit(made)
        assert [view.get(id, message["content"]) for id, message in enumerate(shown)] == [message["content"] for message in made], (seed, call)
        if chance.random() < 0.5:
            edits[chance.randrange(len(edits))] = chance.randrange(10_000)
        elif chance.random() < 0.3:
            edits.append(chance.randrange(10_000))
    return went_on


def test_a_served_program_is_the_layer_clear():
    program = f"served=command:{sys.executable} {Path(__file__).with_name('served.py')}"
    results = recompact.replay("fixtures/transcripts/codex", [program, CLEAR], set=["program.shape=openai"])
    values = {row["policy"]: row for row in results.rows}
    assert values["served"] | {"policy": "toml"} == values["toml"]


def test_a_view_for_each_request_leaves_the_history_as_it_was(codex):
    seen = []

    def view(request):
        request.scope = "request"
        seen.append((request.call, len(request.messages), request.last_read))
        in_place(request)
        return request.messages[-6:]

    results = recompact.replay(codex, view, bounds=False)
    assert len(seen) == 93 and seen[-1][1] == 185
    assert results.total("view", "tokens.saved") > 0.7
    assert all(read is not None for _, _, read in seen[1:])


def test_a_summary_is_written_by_the_summarizer_of_the_study(codex):
    calls = []

    def fold(request):
        calls.append(request.call)
        if request.estimate > 40_000:
            summary = request.summarize(request.messages[:-4], "Sum up:\n{conversation}")
            return [{"role": "user", "content": summary}, *request.messages[-4:]]

    results = recompact.replay(codex, fold, summarizer="fixed:All is well.", bounds=False)
    assert results.total("fold", "summaries") >= 2
    assert len(calls) == 93 + results.total("fold", "summaries")


def test_a_summarizer_without_a_summary_is_an_exception_in_the_policy(codex):
    failed = []

    def fold(request):
        if request.call == 50:
            try:
                request.summarize(request.messages, "Sum up.")
            except recompact.policy.NoSummary as error:
                failed.append(str(error))

    recompact.replay(codex, fold, summarizer="failing", bounds=False)
    assert len(failed) == 1 and failed[0]


def test_half_of_a_surrogate_pair_stays():
    def half(request):
        return [*request.messages[:-1], {"role": "user", "content": "half \ud83d"}] if request.call == 2 else None

    compared = recompact.compare("fixtures/transcripts/awkward/surrogates.jsonl", half, "keep-all")
    [difference] = compared.differences
    assert difference.call == 2 and difference.one[-1]["content"][-1] == {"type": "text", "text": "half \ud83d"}


def raising(request):
    raise ValueError("no messages")


def reordering(request):
    return request.messages[::-1] if len(request.messages) > 1 else None


def returning_texts(request):
    return ["a text"]


def inventing_calls(request):
    return [{"role": "assistant", "content": [{"type": "tool_use", "id": "new", "name": "n", "input": {}}]}, *request.messages]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (raising, r"call 1: the policy raising: ValueError: no messages \(test_policies.py, line \d+\)"),
        (reordering, "messages cannot change their order"),
        (returning_texts, "a policy returns messages, which are dicts; this one returned str"),
        (inventing_calls, "its tool_use `new` is not in the messages that it replaces"),
    ],
)
def test_a_policy_that_fails_fails_the_replay(codex, policy, message):
    with pytest.raises(recompact.RecompactError, match=message):
        recompact.replay([codex, "fixtures/transcripts/openai-chat/repair.jsonl"], policy)


BOTH = ["fixtures/transcripts/codex", "fixtures/transcripts/openai-chat"]


def picky(request):
    if request.format == "codex" and request.call == 3:
        raise KeyError("codex")


@pytest.mark.parametrize("jobs", [1, 2, None])
def test_what_a_policy_raises_is_raised_with_its_place(jobs):
    place = r"^fixtures/transcripts/codex/repair.jsonl: conversation main, call 3: the policy picky: KeyError: 'codex'"
    with pytest.raises(recompact.RecompactError, match=place) as raised:
        recompact.replay(BOTH, picky, jobs=jobs)
    cause = raised.value.__cause__
    assert isinstance(cause, KeyError) and cause.args == ("codex",)
    assert traceback.extract_tb(cause.__traceback__)[-1].name == "picky", "the frame of the user's file"


def test_a_session_in_which_a_policy_raises_can_be_skipped():
    with pytest.warns(recompact.RecompactWarning, match="KeyError: 'codex'"):
        results = recompact.replay(BOTH, [picky, "claude-code"], on_error="skip")
    assert {(row["format"], row["policy"]) for row in results.rows} >= {("openai-chat", "picky"), ("openai-chat", "claude-code")}
    assert {row["format"] for row in results.rows} == {"openai-chat"}, "for every policy"
    sentence = "only 2 of 3 transcripts are in these results; 1 is left out for every policy because one gave no answer"
    assert sentence in " ".join(str(results).split()) and results.verdict.warnings[0].startswith(sentence)
    assert results.to_dict()["coverage"]["left_out"][0]["unanswered"]
    with pytest.raises(ValueError, match="on_error: write 'raise' or 'skip', not 'ignore'"):
        recompact.replay(BOTH, picky, on_error="ignore")


def test_a_skipped_session_is_an_error_if_all_are_or_if_strict():
    for paths, strict in ((BOTH, True), (BOTH[:1], False)):
        with pytest.raises(recompact.RecompactError, match="call 3: the policy picky") as raised:
            recompact.replay(paths, picky, on_error="skip", strict=strict)
        assert isinstance(raised.value.__cause__, KeyError)


# The main conversation of the other session has fewer calls.
@pytest.mark.parametrize(("failing", "call"), [("main", 60), ("agent-afc7507", 2)])
def test_a_session_is_skipped_with_its_sub_agents(failing, call):
    def policy(request):
        assert request.session != failing or request.call < call

    with pytest.warns(recompact.RecompactWarning) as warned:
        results = recompact.replay("fixtures/transcripts/claude-code", [policy, "lcc-s06"], on_error="skip")
    assert {row["transcript"] for row in results.rows} == {"fixtures/transcripts/claude-code/kept-tail.jsonl"}
    assert any("is of the same session and has no answer" in str(warning.message) for warning in warned)
    assert all(left_out["unanswered"] for left_out in results.to_dict()["coverage"]["left_out"])


def test_a_generator_may_ask_for_a_summary(codex):
    def listed(request):
        if request.estimate < 0.7 * request.window:
            return request.messages
        first, *others, call, results = request.messages
        return [first, {"role": "assistant", "content": request.summarize(copy.deepcopy(others), "Short:")}, call, results]

    def yielded(request):
        yield from listed(request)

    one, other = (recompact.replay(codex, policy, window="60k", summarizer="extract") for policy in (listed, yielded))
    assert one.total("listed", "summaries") == other.total("yielded", "summaries") > 0
    assert one.total("listed", "tokens.sent") == other.total("yielded", "tokens.sent")


def test_a_function_has_no_settings_to_sweep(codex):
    with pytest.raises(recompact.RecompactError, match="in_place: a sweep changes settings, and a function has none"):
        recompact.sweep(codex, [in_place])


def test_programs_of_policy_files_need_permission(codex, tmp_path):
    text = f"""name = "served"
[[layer]]
id = "program"
do = "program"
shape = "openai"
command = "{sys.executable} {Path(__file__).with_name("served.py")}"
"""
    with pytest.raises(recompact.RecompactError, match="if you trust it, add allow_programs=True"):
        recompact.replay(codex, text)
    assert recompact.replay(codex, text, allow_programs=True).total("served", "tokens.saved") > 0.3


def entries(*messages):
    return [Entry(number, message) for number, message in enumerate(messages)]


def text(content, role="user"):
    return {"role": role, "content": content}


def listed(entries, returned):
    return [item.listed() for item in aligned(entries, returned)]


def test_messages_keep_their_identity():
    one, two, three = text("one"), text("two", "assistant"), text("three")
    shown = entries(one, two, three)
    assert listed(shown, [one, two, three]) == [0, 1, 2]
    assert listed(shown, [two]) == [1]
    assert listed(shown, copy.deepcopy([two, three])) == [1, 2]
    # One new message stands for all that is missing where it is.
    assert listed(shown, [text("new"), three]) == [{**text("new"), "replaces": [0, 1]}, 2]
    assert listed(shown, [one, text("new"), two, three]) == [0, text("new"), 1, 2]
    # As many as are missing, with the same roles, are these.
    assert listed(shown, [text("ONE"), text("TWO", "assistant"), three]) == [
        {**text("ONE"), "replaces": [0]},
        {**text("TWO", "assistant"), "replaces": [1]},
        2,
    ]
    one["content"] = "changed"
    assert listed(shown, [one, two, three]) == [{**text("changed"), "replaces": [0]}, 1, 2]


def test_tool_calls_say_which_message_a_new_one_was():
    call = text([{"type": "tool_use", "id": "a", "name": "n", "input": {}}], "assistant")
    result = text([{"type": "tool_result", "tool_use_id": "a", "content": "long"}])
    shown = entries(text("one"), text("two", "assistant"), call, result, text("last"))
    short = text([{"type": "tool_result", "tool_use_id": "a", "content": "short"}])
    assert listed(shown, [text("summary"), {**call}, short, text("last")]) == [
        {**text("summary"), "replaces": [0, 1]},
        {**call, "replaces": [2]},
        {**short, "replaces": [3]},
        4,
    ]
