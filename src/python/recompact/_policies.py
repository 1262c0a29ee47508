"""Policies: presets, policy files, their content, functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Union, get_args

from . import _native
from .policy import Function, function

#: A preset by name, the path of a policy file, its text, its content, a program as `mine=command:…`, or a function.
Policy = Union[str, "os.PathLike[str]", Mapping[str, Any], Function, Callable[..., Any]]

#: One policy, or several.
Policies = Union[Policy, Iterable[Policy]]


#: What a failing policy does: its exception ends the call, or its session is left out, for every policy.
OnError = Literal["raise", "skip"]


def given(
    policies: Policies, allow_programs: bool, on_error: OnError
) -> tuple[list[Any], dict[str, Callable[[], Callable[[bytes], str]]], bool, bool]:
    """Returns what a call says of its policies."""
    if on_error not in get_args(OnError):
        raise ValueError(f"on_error: write 'raise' or 'skip', not {on_error!r}")
    return (*list_of_policies(policies), allow_programs, on_error == "skip")


def list_of_policies(policies: Policies) -> tuple[list[Any], dict[str, Callable[[], Callable[[bytes], str]]]]:
    """Returns one policy or several as a list, and the functions among them by name."""
    is_one = isinstance(policies, (str, os.PathLike, Mapping)) or callable(policies) or isinstance(policies, Function)
    functions: dict[str, Callable[[], Callable[[bytes], str]]] = {}

    def plain(policy: Policy) -> Any:
        if not (callable(policy) or isinstance(policy, Function)):
            return policy
        mine = function(policy)
        functions[mine.name] = mine.open
        layer = {"id": "program", "do": "program", "command": f"python:{mine.name}", "shape": mine.shape}
        return {"name": mine.name, "about": "A function in Python.", "layer": [layer]}

    listed: Iterable[Any] = [policies] if is_one else policies  # type: ignore[assignment]
    return [plain(policy) for policy in listed], functions


def preset(name: Policy) -> str:
    """Returns a policy in full, as the text of a policy file: with every setting, also those that it leaves to their defaults.

    >>> import recompact
    >>> "keep_recent_results = 3" in recompact.preset("lcc-s06")
    True
    """
    return _native.policy_toml(name)
