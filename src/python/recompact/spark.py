"""A study on a Spark cluster: each task replays some transcripts of a data frame, and this process merges what they give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._parts import finish, replay_batch
from ._policies import Policies
from ._results import Results


def replay(frame: Any, policies: Policies, **settings: Any) -> Results:
    """Replays the transcripts of a `pyspark.sql.DataFrame`, with the results of one machine, to the byte.

    The column `path` has their paths, which every machine must see, or their names if a column `content` has their contents, as
    `spark.read.format("binaryFile")` gives them. A task replays a batch of records of Arrow. A transcript that cannot be read is in the
    coverage of the results, and a task that is repeated changes nothing. `recompact.replay` describes the settings.
    """

    def replayed(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            contents = batch["content"].to_pylist() if "content" in batch.schema.names else None
            paths = [path.removeprefix("file://").removeprefix("file:") for path in batch["path"].to_pylist()]
            part = replay_batch(paths, contents, policies, **settings)
            yield pyarrow.RecordBatch.from_pydict({"part": [part]})

    columns = [name for name in ("path", "content") if name in frame.columns]
    parts = frame.select(*columns).mapInArrow(replayed, "part binary")
    return finish([bytes(row["part"]) for row in parts.toLocalIterator()])
