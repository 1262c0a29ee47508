"""Checks of arguments, whose errors name them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ._native import RecompactError

#: The largest number that the compiled part takes.
LARGEST = 2**63 - 1


def plain(value: Any) -> Any:
    """Returns a number or an array of numpy as Python has it, and other values as they are."""
    return value.tolist() if hasattr(value, "tolist") else value


def flag(name: str, value: Any) -> bool:
    """Returns True or False."""
    value = plain(value)
    if not isinstance(value, bool):
        raise TypeError(f"{name}: True or False is needed, not {value!r}")
    return value


def text(name: str, value: Any) -> str:
    """Returns a text."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: a text is needed, not {value!r}")
    return value


def count(name: str, value: Any) -> int:
    """Returns a whole number, 1 or more, which may be written as `8e4`."""
    value = plain(value)
    is_whole = hasattr(value, "__index__") or isinstance(value, float) and value.is_integer()
    if isinstance(value, bool) or not is_whole:
        raise TypeError(f"{name}: a whole number is needed, not {value!r}")
    number = int(value)
    if number < 1:
        raise ValueError(f"{name}: 1 or more is needed, not {value!r}")
    if number > LARGEST:
        raise ValueError(f"{name}: the number is too large: {value!r}")
    return number


def path(name: str, value: Any) -> str:
    """Returns a path, with the home folder in place of `~`."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name}: a path is a text or a pathlib.Path, not {type(value).__name__}")
    # `Path("")` is the current folder; an empty text is a variable that was not set.
    if value == "":
        raise RecompactError(f"{name}: an empty text is no path; the current folder is '.'")
    return os.fspath(Path(os.fsdecode(value)).expanduser())
