"""The examples of the docstrings run and print what they say."""

import doctest
import importlib
import pkgutil

import pytest

import recompact

MODULES = ["recompact"] + [module.name for module in pkgutil.walk_packages(recompact.__path__, "recompact.")]


@pytest.mark.parametrize("name", [name for name in MODULES if name not in ("recompact._native", "recompact.__main__")])
def test_examples_print_what_they_say(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(str(error))
    assert doctest.testmod(module).failed == 0


def test_public_functions_have_an_example():
    for name in recompact.__all__:
        member = getattr(recompact, name)
        if callable(member) and not isinstance(member, type) and member.__module__.startswith("recompact"):
            assert ">>>" in member.__doc__, name
