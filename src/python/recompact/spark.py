"""A study on a Spark cluster: each task replays some transcripts of a data frame, and this process merges what they give."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from ._parts import finish, replay_batch, sweep_batch, sweep_by_stages
from ._policies import Policies
from ._results import Results
from ._rows import folder


def replay(frame: Any, policies: Policies, *, rows: str | os.PathLike[str] | None = None, **settings: Any) -> Results:
    """Replays the transcripts of a `pyspark.sql.DataFrame`, with the results of one machine, to the byte.

    The column `path` has their paths, which every machine must see, or their names if a column `content` has their contents, as
    `spark.read.format("binaryFile")` gives them. A task replays a batch of records of Arrow. A transcript that cannot be read is in the
    coverage of the results, and a task that is repeated changes nothing. `recompact.replay` describes the settings.

    Each task writes the rows of its transcripts as Parquet to the folder `rows`, a path or an address as `s3://bucket/rows`. They are from
    before the steps across tasks: without `kept.chance`, and with copies, which the notes of the results name.
    """
    to = folder(rows)

    def replayed(paths: list[str], contents: list[bytes] | None) -> bytes:
        return replay_batch(paths, contents, policies, rows=to, **settings)

    return finish(_parts(frame, replayed))


def sweep(frame: Any, policies: Policies | None = None, **settings: Any) -> Results:
    """Searches the settings of policies on the transcripts of a `pyspark.sql.DataFrame`, with the results of one machine, to the byte.

    The data frame is read for each stage of the sweep. The rest is as in `replay`; `recompact.sweep` describes the settings.
    """

    def stage(after: bytes | None) -> list[bytes]:
        def swept(paths: list[str], contents: list[bytes] | None) -> bytes:
            return sweep_batch(paths, contents, policies, after, **settings)

        return _parts(frame, swept)

    return sweep_by_stages(stage)


def _parts(frame: Any, part: Callable[[list[str], list[bytes] | None], bytes]) -> list[bytes]:
    """Returns the part of each batch of records."""

    def of_batches(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            contents = batch["content"].to_pylist() if "content" in batch.schema.names else None
            paths = [path.removeprefix("file://").removeprefix("file:") for path in batch["path"].to_pylist()]
            yield pyarrow.RecordBatch.from_pydict({"part": [part(paths, contents)]})

    columns = [name for name in ("path", "content") if name in frame.columns]
    parts = frame.select(*columns).mapInArrow(of_batches, "part binary")
    return [bytes(row["part"]) for row in parts.toLocalIterator()]
