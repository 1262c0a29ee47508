"""Results of replays and sweeps: tables, totals, reports."""

from __future__ import annotations

import html
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _arguments, _native
from ._calls import without_running_loop
from ._verdict import Verdict

if TYPE_CHECKING:
    import pandas
    import pyarrow
else:
    # They are imported where they are used. `typing.get_type_hints` takes these.
    pandas, pyarrow = SimpleNamespace(DataFrame=Any), SimpleNamespace(Table=Any, Array=Any)

#: The report that a file has by its ending.
ENDINGS = {
    ".json": "json",
    ".csv": "csv",
    ".html": "html",
    ".md": "markdown",
    ".txt": "table",
    ".sarif": "sarif",
    ".xml": "junit",
}


class Printable:
    """Something that reports show."""

    @property
    def _document(self) -> _native.Document:
        raise NotImplementedError

    def report(self, name: str = "table", *, full: bool = False, width: int = 100) -> str:
        """Returns a report as text: `table`, `markdown`, `json`, `csv`, `html`, `sarif`, `junit`, `github`.

        `full` adds all sections to a report for people, and `width` is that of a terminal, in columns.
        """
        return self._bytes(_arguments.text("name", name), _arguments.count("width", width), _arguments.flag("full", full)).decode()

    def save(self, path: str | os.PathLike[str], *, full: bool = False) -> None:
        """Writes a report to a file; its ending says which: `.json`, `.csv`, `.html`, `.md`, `.txt`, `.sarif`, `.xml`."""
        file = Path(_arguments.path("path", path))
        report = ENDINGS.get(file.suffix.lower())
        if report is None:
            raise _native.RecompactError(f"{file}: the ending says no report; known are {', '.join(ENDINGS)}")
        file.write_bytes(self._bytes(report, 100, _arguments.flag("full", full)))

    def to_dict(self) -> Any:
        """Returns everything as in the saved form; `recompact catalog schemas results` describes that of results."""
        return json.loads(self._bytes("json", 100, True))

    def _bytes(self, report: str, width: int, full: bool) -> bytes:
        # A page calls the functions of its study again.
        with without_running_loop():
            return self._document.report(report, width, full)

    def __repr__(self) -> str:
        return self.report().rstrip()

    def _repr_html_(self) -> str:
        return f'<pre style="line-height: 1.25; overflow-x: auto">{html.escape(repr(self))}</pre>'


class Rows(Printable):
    """A document with a main list."""

    #: Its name in the saved form.
    _list: str

    def __init__(self, document: _native.Document) -> None:
        self._shown = document

    @property
    def _document(self) -> _native.Document:
        return self._shown

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The members of the main list, as dicts."""
        document: Any = self.to_dict()
        rows: list[dict[str, Any]] = document[self._list]
        return rows

    def to_pandas(self) -> pandas.DataFrame:
        """Returns `rows` as a pandas data frame."""
        import pandas

        rows = self.rows
        frame = pandas.DataFrame(rows)
        # pandas makes floats of whole numbers if one is missing.
        for column in frame.select_dtypes("float"):
            if not any(isinstance(row.get(column), float) for row in rows):
                frame[column] = frame[column].astype("Int64")
        return frame


class Plot:
    """A plot as a picture, which a notebook shows."""

    def __init__(self, svg: str) -> None:
        #: The text of an SVG file.
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to an `.svg` file."""
        file = Path(_arguments.path("path", path))
        if file.suffix.lower() != ".svg":
            raise _native.RecompactError(f"{file}: the picture is an SVG file, so its name ends with .svg")
        file.write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<plot: SVG with {len(self.svg):,} characters; save('….svg') writes it>"

    def _repr_svg_(self) -> str:
        return self.svg


class Column(NamedTuple):
    """What a column of results means."""

    id: str
    #: `tokens`, `share`, `bytes`, `count`, `usd` or `ratio`.
    unit: str
    #: Which values are better: `lower`, `higher` or `neither`.
    better: str
    about: str


class Recommendation(NamedTuple):
    """The configuration that a sweep recommends."""

    policy: str
    #: The complete policy file, for `replay`.
    toml: str


class Results(Printable):
    """The results of a replay or a sweep. In a notebook, and printed, they show the answer on one screen.

    A row is a conversation under a policy. Columns have dotted ids, such as `tokens.saved`; `columns` says what they mean, and a
    missing value is None. Rows of the oracles, which know the future, are left out unless `oracles` is set: they are no policies, and
    `bound_of` names the policy that each of them bounds.

    >>> import recompact
    >>> results = recompact.replay("fixtures/transcripts/codex/repair.jsonl", ["claude-code"])
    >>> [(row["policy"], row["calls"]) for row in results.rows]
    [('keep-all', 93), ('claude-code', 93), ('recorded', 93), ('drop-all', 93)]
    """

    def __init__(self, native: _native.StudyResults) -> None:
        self._native = native

    @property
    def _document(self) -> _native.Document:
        return self._native.document

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each conversation and policy."""
        return self._native.rows("rows", False)

    @property
    def summary(self) -> list[dict[str, Any]]:
        """A dict for each policy: its totals over all conversations."""
        return self._native.rows("summary", False)

    @property
    def configurations(self) -> list[dict[str, Any]]:
        """A dict for each configuration of a sweep; a replay has none."""
        return self._native.rows("configurations", False) if self._native.is_sweep else []

    @property
    def columns(self) -> list[Column]:
        """What the columns mean, in their order."""
        return [Column(*column) for column in self._native.columns]

    @property
    def recommended(self) -> Recommendation | None:
        """The configuration that a sweep recommends; None if none meets the conditions, and for a replay."""
        recommended = self._native.recommended
        return recommended and Recommendation(*recommended)

    @property
    def verdict(self) -> Verdict | None:
        """What to do, and why; None if nothing was replayed.

        >>> import recompact
        >>> verdict = recompact.replay("fixtures/transcripts/codex/repair.jsonl", ["claude-code"], window="80k").verdict
        >>> verdict.outcome, verdict.policy, round(verdict.change, 2), verdict.interval
        ('unproven', 'claude-code', -0.28, None)
        """
        verdict = self._native.verdict
        return None if verdict is None else Verdict.of(json.loads(verdict))

    def total(self, policy: str, column: str) -> float | None:
        """Returns a policy's value of a column over all conversations, a count as an int; None if it has no value there.

        Raises `KeyError` if the results have no such policy or no such column.
        """
        return self._native.total(_arguments.text("policy", policy), _arguments.text("column", column))

    def plot(self) -> Plot:
        """Returns the costs and the facts in context of all policies as a picture: the plot of the HTML report.

        >>> import recompact
        >>> recompact.replay("fixtures/transcripts/codex", ["claude-code"]).plot().svg[:4]
        '<svg'

        Raises `RecompactError` if no policy has both values.
        """
        svg = self._native.plot()
        if svg is None:
            raise _native.RecompactError("there is nothing to plot: no policy has a value in both columns")
        return Plot(svg)

    def _repr_html_(self) -> str:
        return self._native.first_screen() or super()._repr_html_()

    def to_pandas(self, table: str | None = None, *, oracles: bool = False) -> pandas.DataFrame:
        """Returns a table as a pandas data frame: `rows`, `summary`, or the `configurations` of a sweep.

        >>> import recompact
        >>> results = recompact.replay("fixtures/transcripts/codex/repair.jsonl", ["claude-code"])
        >>> results.to_pandas().set_index("policy")["calls"].to_dict()
        {'keep-all': 93, 'claude-code': 93, 'recorded': 93, 'drop-all': 93}
        """
        import numpy
        import pandas

        columns, length = self._table(table, oracles)

        def values(kind: str, data: bytes, offsets: bytes | None, validity: bytes | None) -> Any:
            if kind == "number":
                return numpy.frombuffer(data, "<f8")
            if kind == "count":
                counts = numpy.frombuffer(data, "<i8")
                return counts if validity is None else pandas.arrays.IntegerArray(counts, ~_bits(numpy, validity, length))
            if kind == "flag":
                return _bits(numpy, data, length)
            ends = numpy.frombuffer(offsets or b"", "<i8")
            texts = [data[start:end].decode() for start, end in zip(ends, ends[1:])]
            if validity is None:
                return texts
            return [text if there else None for text, there in zip(texts, _bits(numpy, validity, length))]

        return pandas.DataFrame(
            {name: values(kind, data, offsets, validity) for name, (kind, validity, data, offsets) in columns}
        )

    def to_arrow(self, table: str | None = None, *, oracles: bool = False) -> pyarrow.Table:
        """Returns a table as an Arrow table: `rows`, `summary`, or the `configurations` of a sweep. Its columns are not copied."""
        import pyarrow

        columns, length = self._table(table, oracles)
        types = {"number": pyarrow.float64(), "count": pyarrow.int64(), "text": pyarrow.large_string(), "flag": pyarrow.bool_()}

        def array(kind: str, validity: bytes | None, data: bytes, offsets: bytes | None) -> pyarrow.Array:
            parts = [validity, data] if offsets is None else [validity, offsets, data]
            buffers = [None if part is None else pyarrow.py_buffer(part) for part in parts]
            return pyarrow.Array.from_buffers(types[kind], length, buffers)

        return pyarrow.table({name: array(*column) for name, column in columns})

    def _table(self, table: str | None, oracles: bool) -> tuple[Any, int]:
        usual = "configurations" if self._native.is_sweep else "rows"
        return self._native.buffers(usual if table is None else _arguments.text("table", table), _arguments.flag("oracles", oracles))


def _bits(numpy: Any, packed: bytes, length: int) -> Any:
    return numpy.unpackbits(numpy.frombuffer(packed, "u1"), count=length, bitorder="little").astype(bool)
