"""`help()`, signatures and types: for people, for editors, and for type checkers."""

import inspect
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import recompact
from recompact import _settings, policy

WRONG = Path(__file__).with_name("wrong_programs.py")
CODEX = "fixtures/transcripts/codex"


def functions():
    for module in (recompact, policy):
        for name, member in vars(module).items():
            if inspect.isfunction(member) and member.__module__.startswith("recompact") and not name.startswith("_"):
                yield member
            if inspect.isclass(member) and member.__module__.startswith("recompact"):
                own = (of.fget if isinstance(of, property) else of for of in vars(member).values())
                yield from (of for of in own if inspect.isfunction(of) and of.__module__.startswith("recompact"))


def test_types_of_all_functions_can_be_resolved():
    found = list(functions())
    assert len(found) > 40
    for function in found:
        typing.get_type_hints(function)
    assert typing.get_type_hints(recompact.replay)["misses"] == _settings.Whole


def test_help_describes_every_setting_with_its_default():
    for function in (recompact.replay, recompact.sweep, recompact.compare, recompact.show, recompact.read, recompact.audit):
        text = inspect.getdoc(function)
        for name in set(inspect.signature(function).parameters) & set(_settings._TYPES):
            assert f"\n    {name}: {_settings.ABOUT[name]}" in text, (function, name)
    assert inspect.signature(recompact.replay).parameters["max_residual"].default == 0.15
    assert "window: Context window, in tokens" in inspect.getdoc(recompact.replay)


def test_defaults_are_those_of_the_program():
    as_it_is = recompact.replay(CODEX, "lcc-s06", progress=False).to_dict()
    named = {name: value for name, value in _settings.DEFAULTS.items() if name in _settings.Settings.__annotations__}
    assert len(named) > 10
    assert recompact.replay(CODEX, "lcc-s06", progress=False, **named).to_dict() == as_it_is


def test_defaults_of_a_search_are_those_of_the_program():
    def swept(**settings):
        found = recompact.sweep(CODEX, "lcc-s06", set="micro.keep_recent_results=1,3", progress=False, **settings).to_dict()
        # It says how the sweep was called.
        return {name: value for name, value in found.items() if name != "study"}

    named = {name: value for name, value in _settings.DEFAULTS.items() if name in _settings.SearchSettings.__annotations__}
    assert len(named) == 2
    assert swept(**named) == swept()


CHECKERS = {
    "mypy": ["--strict", "--no-error-summary", "--cache-dir", "target/mypy"],
    "pyright": ["--pythonpath", sys.executable, "--pythonversion", "3.10"],
}


@pytest.mark.parametrize("checker", CHECKERS)
def test_wrong_programs_are_found(checker):
    pytest.importorskip(checker)

    def run(*arguments):
        command = [sys.executable, "-m", checker, *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])

    # The package of pyright loads its program when it is first called.
    if run("--version").returncode:
        pytest.skip(f"{checker} does not start here")
    printed = run(*CHECKERS[checker], str(WRONG)).stdout
    found = {int(line) for line in re.findall(r"wrong_programs\.py:(\d+):.*\berror\b", printed)}
    expected = {at for at, line in enumerate(WRONG.read_text(encoding="utf-8").splitlines(), 1) if line.endswith("  # wrong")}
    assert len(expected) == 26
    assert found == expected, printed
