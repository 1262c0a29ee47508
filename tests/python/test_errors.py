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
        (replay(jobs="two"), TypeError, "jobs: a whole number or None is needed, not 'two'"),
        (replay(jobs=0), ValueError, "jobs: 1 thread or more is needed, not 0"),
        (replay(allow_programs="yes"), TypeError, "allow_programs: True or False is needed, not 'yes'"),
        (replay(misses="many"), TypeError, "misses: a whole number, 0 or more is needed, not 'many'"),
        (replay(misses=-1), ValueError, "misses: a whole number, 0 or more is needed, not -1"),
        (replay(seed=1.5), TypeError, "seed: a whole number, 0 or more is needed, not 1.5"),
        (replay(findings="yes"), TypeError, "findings: True or False is needed, not 'yes'"),
        (replay(since=3), TypeError, "since: a text is needed, not 3"),
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
        (sweep(holdout=0.5), ValueError, "holdout 0.5: the transcripts have 1 session"),
        (sweep(set="macro.x=1,2"), ValueError, "set macro.x: no policy here has a layer `macro`; did you mean `micro`?"),
        (lambda _: recompact.replay(7), TypeError, "paths: one path or several are needed, not int"),
        (lambda path: recompact.replay(path).total("lcc-s08-lat", "calls"), KeyError, "did you mean `lcc-s08-late`?"),
        (lambda path: recompact.show(path, call=0), ValueError, "call: calls are counted from 1, so it is not 0"),
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

