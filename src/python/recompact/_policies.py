"""Policies: presets, policy files, their content."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Union

from . import _native

#: A preset by name, the path of a policy file, its text, or its content.
Policy = Union[str, "os.PathLike[str]", Mapping[str, Any]]

#: One policy, or several.
Policies = Union[Policy, Iterable[Policy]]


def list_of_policies(policies: Policies) -> list[Policy]:
    """Returns one policy or several as a list."""
    return [policies] if isinstance(policies, (str, os.PathLike, Mapping)) else list(policies)


def preset(name: Policy) -> str:
    """Returns a policy in full, as the text of a policy file: with every setting, also those that it leaves to their defaults.

    >>> import recompact
    >>> "keep_recent_results = 3" in recompact.preset("lcc-s06")
    True
    """
    return _native.policy_toml(name)
