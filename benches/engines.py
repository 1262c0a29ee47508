"""Prints what a study of a folder costs in one process and on local clusters with two workers: benches/engines.py FOLDER

Each way is a process of its own. Its time is without the start of the cluster, which is a column of its own; its memory is the most that it
and its children have at one time, shared pages counted once (PSS). All must give the same results.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import recompact

POLICIES = ["lcc-s08", "claude-code"]
WORKERS = 2
#: Transcripts of a task.
BATCH = 64


def one_process(files: list[str], started: Callable[[], None]) -> recompact.Results:
    started()
    return recompact.replay(files, POLICIES, jobs=WORKERS, progress=False)


def ray(files: list[str], started: Callable[[], None]) -> recompact.Results:
    import ray
    import ray.data

    import recompact.ray

    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    started()
    dataset = ray.data.from_items([{"path": path} for path in files], override_num_blocks=len(batches(files)))
    return recompact.ray.replay(dataset, POLICIES, batch_size=BATCH)


def spark(files: list[str], started: Callable[[], None]) -> recompact.Results:
    from pyspark.sql import SparkSession

    import recompact.spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{WORKERS}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    session = builder.config("spark.driver.maxResultSize", "0").getOrCreate()
    started()
    frame = session.createDataFrame([(path,) for path in files], ["path"]).repartition(len(batches(files)))
    return recompact.spark.replay(frame, POLICIES)


def dask(files: list[str], started: Callable[[], None]) -> recompact.Results:
    import distributed

    cluster = distributed.LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        started()
        return recompact.finish(client.gather(client.map(part, batches(files), pure=False)))


def part(batch: list[str]) -> bytes:
    return recompact.replay(batch, POLICIES, part=True, jobs=1, progress=False).data


def batches(files: list[str]) -> list[list[str]]:
    return [files[at : at + BATCH] for at in range(0, len(files), BATCH)]


WAYS = {"one process": one_process, "Ray": ray, "Spark": spark, "Dask": dask}


def run(way: str, folder: str) -> None:
    """Makes the study in one way, and prints its times and the hash of its results."""
    begin = time.monotonic()
    ready = []
    results = WAYS[way](sorted(map(str, Path(folder).rglob("*.jsonl"))), lambda: ready.append(time.monotonic()))
    end = time.monotonic()
    digest = hashlib.sha256(results.report("json").encode()).hexdigest()
    print(json.dumps({"start": ready[0] - begin, "study": end - ready[0], "results": digest}))


def measured(way: str, folder: str) -> dict:
    """Runs one way in a process and returns what it printed, and its peak of memory in MB."""
    process = psutil.Popen([sys.executable, __file__, folder, way], stdout=subprocess.PIPE, text=True)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(memory, [process, *children(process)])))
        time.sleep(0.2)
    said = process.stdout.read()
    if process.returncode:
        sys.exit(f"{way}: exit code {process.returncode}")
    return json.loads(said.splitlines()[-1]) | {"peak": peak / 1e6}


def children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def memory(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().pss
    except psutil.Error:
        return 0


def main(folder: str) -> None:
    ways = [way for way in WAYS if way != "Spark" or shutil.which("java")]
    rows = {way: measured(way, folder) for way in ways}
    if len({row["results"] for row in rows.values()}) > 1:
        sys.exit("the results differ")
    transcripts = sum(1 for _ in Path(folder).rglob("*.jsonl"))
    whole = rows["one process"]["study"]
    for way, row in rows.items():
        print(
            f"| {transcripts:,} | {way} | {row['start']:.1f} s | {row['study']:.1f} s | {row['study'] / whole:.2f} | {row['peak']:,.0f} MB |",
            flush=True,
        )


if __name__ == "__main__":
    if len(sys.argv) > 2:
        run(sys.argv[2], sys.argv[1])
    else:
        main(sys.argv[1])
