"""Errors are in the words of the caller: what is wrong with which argument, without options of the program and types of Rust."""

import functools
import re
from pathlib import Path

import pytest

import recompact

#: What no message has.
FOREIGN = re.compile(r"--[a-z]|[ui](8|16|32|64|size)\b|failed to extract|struct |variant|floating point|boolean")


def unchanged(request):
    return None


async def asynchronous(request):
    return None


class Asynchronous:
    async def __call__(self, request):
        return None


def replay(**arguments):
    return lambda path: recompact.replay(path, **{"policies": "lcc-s06", **arguments})


def sweep(**arguments):
    return lambda path: recompact.sweep(path, "lcc-s06", **{"set": {"micro.keep_recent_results": [1, 3]}, **arguments})


def probe(**arguments):
    return lambda path: recompact.probe(path, "lcc-s06", "openai:m", dry_run=True, **arguments)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (replay(policies="lcc-s80"), ValueError, "lcc-s80: there is no preset and no file of this name; did you mean `lcc-s08`?"),
        (replay(policies=7), TypeError, "policies: one policy or several are needed, not int"),
        (replay(policies=[None]), TypeError, "a policy is the name of a preset, a path, the text of a policy file, a dict"),
        (replay(policies=[]), ValueError, "name at least one policy"),
        (replay(jobs="two"), TypeError, "jobs: a whole number is needed, not 'two'"),
        (replay(jobs=0), ValueError, "jobs: 1 or more is needed, not 0"),
        (replay(jobs=10**25), ValueError, "jobs: the number is too large"),
        (replay(policies=b"lcc-s06"), TypeError, "policies: one policy or several are needed, not bytes"),
        (replay(window=[80_000]), TypeError, "window: a number or a text is needed, not [80000]"),
        (replay(window=True), TypeError, "window: a number or a text is needed, not True"),
        (replay(window=10**30), ValueError, "window: the number is too large"),
        (replay(newest=0), ValueError, "newest: 1 or more is needed, not 0"),
        (replay(set=5), TypeError, "set: a dict, a text or several are needed, not 5"),
        (replay(set={5: 5}), TypeError, "set: a text is needed, not 5"),
        (replay(set={"micro.keep_recent_results": None}), TypeError, "set: micro.keep_recent_results: a text, a number, a bool or several"),
        (replay(set={"micro": {"keep_recent_results": 5}}), TypeError, "set: micro: a text, a number, a bool or several are needed"),
        (replay(summarizer="openai:m"), ValueError, "summarizer openai:m: a replay in Python asks no model; write `extract`"),
        (replay(allow_programs="yes"), TypeError, "allow_programs: True or False is needed, not 'yes'"),
        (replay(misses="many"), TypeError, "misses: a whole number, 0 or more is needed, not 'many'"),
        (replay(misses=-1), ValueError, "misses: a whole number, 0 or more is needed, not -1"),
        (replay(seed=1.5), TypeError, "seed: a whole number, 0 or more is needed, not 1.5"),
        (replay(findings="yes"), TypeError, "findings: True or False is needed, not 'yes'"),
        (replay(since=3), TypeError, "since: a text or a date is needed, not 3"),
        (replay(since="yesterday"), ValueError, "since: `yesterday` is not a day: write one such as 2026-10-01, 7d or 2w"),
        (replay(param=3), TypeError, "param: a dict is needed, not 3"),
        (replay(max_residual=-1), ValueError, "max_residual: write a share, such as 0.15 for 15 %"),
        (probe(max_cost=float("nan")), ValueError, "max_cost: write an amount in USD, such as 2.50, not NaN"),
        (probe(max_cost=-1), ValueError, "max_cost: write an amount in USD, such as 2.50, not -1"),
        (probe(timeout=0), ValueError, "timeout: a whole number, 1 or more is needed, not 0"),
        (replay(cache=3), TypeError, "cache: a text is needed, not 3"),
        (replay(branches="some"), ValueError, "branches: `last` or `all` is needed, not 'some'"),
        (replay(baseline="keep-al"), ValueError, "keep-al: there is no preset and no file of this name; did you mean `keep-all`?"),
        (replay(prices="gpt-9"), ValueError, "prices gpt-9: neither a model with a known price nor a readable file"),
        (replay(set="micr.keep_recent_results=5"), ValueError, "set micr.keep_recent_results=5: no policy here has a layer `micr`"),
        (replay(set="micro.kep=5"), ValueError, "set micro.kep=5: layer `micro`: `clear` has no setting `kep`"),
        (replay(since="1d"), ValueError, "no conversation is of the wanted days, project, model and format (since, until, project, model, format)"),
        (sweep(where="kept.hitt > 0"), ValueError, "where kept.hitt: there is no such column; did you mean `kept.hit`?"),
        (sweep(minimize="cost.ration"), ValueError, "minimize cost.ration: there is no such column; did you mean `cost.ratio`?"),
        (sweep(holdout=2), ValueError, "holdout 2: write a share of the sessions, such as 0.3"),
        (sweep(sample=0), ValueError, "sample: 1 or more is needed, not 0"),
        (sweep(wher="kept.hit > 0"), TypeError, "there is no setting `wher`; did you mean `where`?"),
        (sweep(holdout=0.5), ValueError, "holdout 0.5: the transcripts have 1 session"),
        (sweep(set="macro.x=1,2"), ValueError, "set macro.x: no policy here has a layer `macro`; did you mean `micro`?"),
        (lambda _: recompact.replay(""), ValueError, "paths: an empty text is no path; the current folder is '.'"),
        (lambda _: recompact.replay([7]), TypeError, "paths: a path is a text or a pathlib.Path, not int"),
        (lambda _: recompact.replay(b"a.jsonl"), TypeError, "paths: one path or several are needed, not bytes"),
        (lambda _: recompact.replay_bytes([("a", 5)], "lcc-s06"), TypeError, "transcripts: pairs of a name and of bytes are needed, not ('a', 5)"),
        (lambda _: recompact.replay_bytes({"a": b""}, "lcc-s06"), TypeError, "transcripts: pairs of a name and of bytes are needed, not 'a'"),
        (lambda _: recompact.load(b"a.json"), TypeError, "path: a path is a text or a pathlib.Path, not bytes"),
        (lambda _: recompact.check(5), TypeError, "suites: a path is a text or a pathlib.Path, not int"),
        (lambda _: recompact.audit("fixtures/audit/damaged", root=5), TypeError, "root: a path is a text or a pathlib.Path, not int"),
        (lambda path: recompact.replay(path).total(5, "calls"), TypeError, "policy: a text is needed, not 5"),
        (lambda path: recompact.replay(path).to_pandas(5), TypeError, "table: a text is needed, not 5"),
        (lambda path: recompact.replay(path).report(width=-1), ValueError, "width: 1 or more is needed, not -1"),
        (lambda path: recompact.show(path, conversation=5), TypeError, "conversation: a text is needed, not 5"),
        (lambda path: recompact.show(path, call=10**30), ValueError, "call: the number is too large"),
        (lambda path: recompact.show(path, call=True), TypeError, "call: a whole number is needed, not True"),
        (lambda _: recompact.export_settings(5), TypeError, "harness: a text is needed, not 5"),
        (lambda _: recompact.export_settings("codex", unchanged), TypeError, "policy: a function is no policy file; write a preset"),
        (lambda _: recompact.preset(unchanged), TypeError, "name: a function is no policy file; write a preset"),
        (lambda _: recompact.policy.function(unchanged, timeout="5"), TypeError, "timeout: a whole number is needed, not '5'"),
        (lambda _: recompact.policy.function(unchanged, timeout=1.5), TypeError, "timeout: a whole number is needed, not 1.5"),
        (lambda _: recompact.policy.function(unchanged, timeout=True), TypeError, "timeout: a whole number is needed, not True"),
        (lambda _: recompact.replay(7), TypeError, "paths: one path or several are needed, not int"),
        (lambda path: recompact.replay(path).total("lcc-s08-lat", "calls"), KeyError, "did you mean `lcc-s08-late`?"),
        (lambda path: recompact.show(path, call=0), ValueError, "call: 1 or more is needed, not 0"),
        (lambda path: recompact.show(path, conversation="man"), ValueError, "conversation man: there is none; did you mean `main`?"),
        (lambda _: recompact.export_settings("codx"), ValueError, "harness codx: there is no such harness; did you mean `codex`?"),
        (lambda _: recompact.diff("a.json", "b.json"), TypeError, "before: the results of a replay or a sweep are needed, not str"),
        (replay(policies=asynchronous), TypeError, "asynchronous is an `async def`: write a `def`, and call asyncio.run in it"),
        (replay(policies=Asynchronous), TypeError, "Asynchronous is an `async def`"),
        (replay(policies=Asynchronous()), TypeError, "Asynchronous is an `async def`"),
        (replay(policies=Asynchronous().__call__), TypeError, "__call__ is an `async def`"),
        (replay(policies=functools.partial(asynchronous)), TypeError, "partial is an `async def`"),
        (replay(policies=[lambda _: None, lambda _: None]), ValueError, 'two functions are called <lambda>: give one another name'),
        (lambda _: recompact.policy.function(7), TypeError, "a function or a class is needed, not int"),
        (lambda _: recompact.policy.function(unchanged, 7), TypeError, "name: a text is needed, not 7"),
        (lambda _: recompact.policy.function(unchanged, shape="open-ai"), ValueError, "shape: write 'anthropic' or 'openai'"),
    ],
)
def test_a_wrong_argument_is_named(codex, call, error, message):
    with pytest.raises(error) as raised:
        call(codex)
    [written] = raised.value.args
    assert message in written and not FOREIGN.search(written), written


def twice(request):
    return [request.messages[0], *request.messages]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (twice, r"a policy returns each message once; this one returned a message \(user\) at 0 and at 1"),
        (lambda request: 5, "a policy returns a list of messages, or None; this one returned int"),
        (lambda request: request.messages[0], "a policy returns a list of messages, or None; this one returned dict"),
        (lambda request: setattr(request, "scope", "requests"), "scope: write 'state' or 'request', not 'requests'"),
        (lambda request: request.files.append({"pth": "a"}), 'files: dicts as {"path": …'),
        (lambda request: request.summarize(request.messages, 5), "summarize: the prompt and the system prompt are texts"),
        (lambda request: request.summarize("text", "prompt"), "summarize: messages of the request are needed, not str"),
        (lambda request: request.summarize([{"role": "user"}], "prompt"), r"the message at 0 \(user\) is none of the request"),
        (lambda request: request.summarize(request.messages, "prompt", max_tokens=0), "summarize: max_tokens: 1 or more is needed"),
        (lambda request: setattr(request, "scop", "request"), "'Request' object has no attribute 'scop'"),
        (lambda request: asynchronous(request), "a policy returns messages, and this one a coroutine: call asyncio.run in it"),
        (lambda request: [{"role": "user", "content": "new", "score": float("nan")}], "not JSON compliant"),
        (lambda request: b"text", "a policy returns a list of messages, or None; this one returned bytes"),
        (lambda request: request.files.append({"path": 5}), "files: path: a path is a text or a pathlib.Path, not int"),
    ],
)
def test_a_wrong_answer_is_named(codex, policy, message):
    with pytest.raises(recompact.RecompactError, match=f"conversation main, call 1: .*{message}"):
        recompact.replay(codex, policy)


def test_another_name_form_and_limit_of_a_named_function():
    named = recompact.policy.function(recompact.policy.function(unchanged, "a"), shape="openai", timeout=5)
    assert (named.name, named.shape, named.timeout) == ("a", "openai", 5)


def test_a_message_of_the_program_names_its_own_options(codex, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(Path(codex).read_bytes() + b"{broken\n")
    with pytest.raises(recompact.RecompactError, match="^strict: 1 line could not be read"):
        recompact.replay(path, "lcc-s06", strict=True)

