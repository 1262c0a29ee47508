"""Rows that the tasks of an engine write, so that no machine collects them."""

from __future__ import annotations

import hashlib
import os
import uuid
from typing import Any

from . import _native
from ._results import Results

#: Columns that follow from all transcripts of a study.
OF_ALL = ["kept.chance"]


def folder(rows: str | os.PathLike[str] | None) -> str | None:
    """Returns the address of a folder, as every machine understands it."""
    if rows is None:
        return None
    if not isinstance(rows, (str, os.PathLike)):
        raise TypeError(f"rows: the address of a folder is needed, not {type(rows).__name__}")
    address = os.fspath(rows)
    return address if "://" in address else os.path.abspath(address)


def write(part: bytes, rows: str) -> None:
    """Writes the rows of a part to a file in a folder. It has a name that follows from the part: a repeated task writes the same file."""
    import pyarrow.fs
    import pyarrow.parquet

    try:
        native, _ = _native.finish([part])
    except _native.RecompactError:
        # A batch without a transcript has no rows; the end of the study says why.
        return
    table = Results(native).to_arrow("rows").drop(OF_ALL)
    system, path = pyarrow.fs.FileSystem.from_uri(rows)
    name = f"{path}/{hashlib.sha256(part).hexdigest()[:32]}.parquet"
    if isinstance(system, pyarrow.fs.LocalFileSystem):
        system.create_dir(path, recursive=True)
        # A task may die while it writes. A reader of the folder leaves out names that begin with a dot.
        draft = f"{path}/.{uuid.uuid4().hex}"
        _write(table, draft, system)
        system.move(draft, name)
    else:
        # An object is there when it is whole.
        _write(table, name, system)


def _write(table: Any, name: str, system: Any) -> None:
    import pyarrow.parquet

    with system.open_output_stream(name) as stream:
        pyarrow.parquet.write_table(table, stream)
