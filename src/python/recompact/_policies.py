"""Policies: presets, policy files, their content, functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, Union, get_args

from . import _arguments, _native
from ._results import Results
from ._settings import Texts, Whole, natural
from .policy import Function, PolicyFunction, function

#: A preset by name, the path of a policy file, its text, its content, a program as `mine=command:…`, or a function.
Policy = Union[str, os.PathLike[str], Mapping[str, Any], Function, PolicyFunction, type[PolicyFunction]]

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
    return (*list_of_policies(policies), _arguments.flag("allow_programs", allow_programs), on_error == "skip")


def list_of_policies(policies: Policies) -> tuple[list[Any], dict[str, Callable[[], Callable[[bytes], str]]]]:
    """Returns one policy or several as a list, and the functions among them by name."""
    is_one = isinstance(policies, (str, os.PathLike, Mapping)) or callable(policies) or isinstance(policies, Function)
    functions: dict[str, Callable[[], Callable[[bytes], str]]] = {}

    def plain(policy: Policy) -> Any:
        if not (callable(policy) or isinstance(policy, Function)):
            return policy
        mine = function(policy)
        if mine.name in functions:
            raise ValueError(
                f'two functions are called {mine.name}: give one another name, such as recompact.policy.function(…, "other")'
            )
        functions[mine.name] = mine.open
        layer: dict[str, Any] = {"id": "program", "do": "program", "command": f"python:{mine.name}", "shape": mine.shape}
        if mine.timeout is not None:
            layer["timeout"] = mine.timeout
        return {"name": mine.name, "about": "A function in Python.", "layer": [layer]}

    if isinstance(policies, (bytes, bytearray)) or not (is_one or isinstance(policies, Iterable)):
        raise TypeError(f"policies: one policy or several are needed, not {type(policies).__name__}")
    listed: Iterable[Any] = [policies] if is_one else policies  # type: ignore[assignment]
    return [plain(policy) for policy in listed], functions


def preset(name: Policy) -> str:
    """Returns a policy in full, as the text of a policy file: with every setting, also those that it leaves to their defaults.

    >>> import recompact
    >>> "keep_recent_results = 3" in recompact.preset("lcc-s06")
    True
    """
    return _native.policy_toml(_no_function("name", name))


def _no_function(name: str, policy: Any) -> Any:
    if callable(policy) or isinstance(policy, Function):
        raise TypeError(f"{name}: a function is no policy file; write a preset, the path or the text of a policy file, or a dict")
    return policy


class Preset(NamedTuple):
    """A policy that is part of the package."""

    name: str
    #: The presets that belong together have the same.
    family: str
    about: str


def presets() -> list[Preset]:
    """Returns all presets, by family.

    >>> import recompact
    >>> [preset.name for preset in recompact.presets() if preset.name.startswith("anthropic")]
    ['anthropic-clear', 'anthropic-clear-all', 'anthropic-compact']
    """
    return [Preset(*preset) for preset in _native.presets()]


class ExportedSettings(NamedTuple):
    """A configuration of a harness."""

    text: str
    #: What the reader must know: how the numbers were chosen, where the text belongs, what is left out.
    comment: list[str]


def export_settings(
    harness: str,
    policy: Policy | Results | None = None,
    *,
    set: Mapping[str, Any] | Texts | None = None,
    window: Whole | str | None = None,
    partial: bool = False,
) -> ExportedSettings:
    """Returns the numbers of a policy as the configuration of a harness: `codex`, `langchain-clear`.

    `policy` may be results: then it is what they recommend. Default: the preset of the harness. `set` changes settings of the policy,
    and `window` is the context window in tokens. A policy that the harness cannot do as a whole is an error, unless `partial` is set.

    >>> import recompact
    >>> print(recompact.export_settings("codex", window="200k").text)
    model_auto_compact_token_limit = 180000
    <BLANKLINE>
    """
    settings = natural({"set": set, "window": window})
    one, results = (None, policy._native) if isinstance(policy, Results) else (_no_function("policy", policy), None)
    name, is_part = _arguments.text("harness", harness), _arguments.flag("partial", partial)
    return ExportedSettings(*_native.export_settings(name, one, results, settings, is_part))
