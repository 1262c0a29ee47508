"""A study on a Ray cluster: each task replays some transcripts of a data set, and this process merges what they give."""

from __future__ import annotations

import os
from typing import Any

from ._parts import finish, replay_batch, sweep_batch, sweep_by_stages
from ._policies import Policies
from ._results import Results
from ._rows import folder


def replay(
    dataset: Any, policies: Policies, *, batch_size: int = 64, rows: str | os.PathLike[str] | None = None, **settings: Any
) -> Results:
    """Replays the transcripts of a `ray.data.Dataset`, with the results of one machine, to the byte.

    The column `path` has their paths, which every machine must see, or their names if a column `bytes` has their contents, as
    `ray.data.read_binary_files(…, include_paths=True)` gives them. A task replays `batch_size` of them on one processor. A transcript
    that cannot be read is in the coverage of the results, and a task that is repeated changes nothing. `recompact.replay` describes the
    settings.

    Each task writes the rows of its transcripts as Parquet to the folder `rows`, a path or an address as `s3://bucket/rows`. They are from
    before the steps across tasks: without `kept.chance`, and with copies, which the notes of the results name.
    """
    to = folder(rows)

    def replayed(batch: dict[str, Any]) -> dict[str, list[bytes]]:
        return {"part": [replay_batch(batch["path"], batch.get("bytes"), policies, rows=to, **settings)]}

    return finish(_parts(dataset, replayed, batch_size))


def sweep(dataset: Any, policies: Policies | None = None, *, batch_size: int = 64, **settings: Any) -> Results:
    """Searches the settings of policies on the transcripts of a `ray.data.Dataset`, with the results of one machine, to the byte.

    The data set is read for each stage of the sweep. The rest is as in `replay`; `recompact.sweep` describes the settings.
    """

    def stage(after: bytes | None) -> list[bytes]:
        def swept(batch: dict[str, Any]) -> dict[str, list[bytes]]:
            return {"part": [sweep_batch(batch["path"], batch.get("bytes"), policies, after, **settings)]}

        return _parts(dataset, swept, batch_size)

    return sweep_by_stages(stage)


def _parts(dataset: Any, part: Any, batch_size: int) -> list[bytes]:
    # Tasks and no actors: these wait for processors that a small cluster does not have, and a process keeps its vocabularies anyway.
    parts = dataset.map_batches(part, batch_size=batch_size, batch_format="numpy")
    return [row["part"] for row in parts.iter_rows()]
