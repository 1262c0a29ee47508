"""A study on a local cluster of Ray, Spark or Dask gives what one machine gives, to the byte, also if a worker dies or a task runs twice."""

import os
import shutil
import sys
from pathlib import Path

import pytest

import recompact

#: Each engine warns of its own matters.
pytestmark = pytest.mark.filterwarnings("ignore")

#: Recordings, where there are some, or else those of the repository.
FOLDERS = os.environ.get("RECOMPACT_TRANSCRIPTS", "fixtures/transcripts").split(":")
PRESETS = ["lcc-s08", "claude-code"]
PARTS = 7
SWEEP = {"policies": ["lcc-s06"], "set": "micro.keep_recent_results=1..20", "sample": 12}


def transcripts():
    files = (file for folder in FOLDERS for file in sorted(Path(folder).resolve().rglob("*")))
    endings = (".json", ".jsonl", ".gz", ".zst", ".traj")
    return [str(file) for file in files if file.name.endswith(endings) and "/." not in str(file)]


def policies(died):
    """Two presets, and a function that kills its process once. Engines send it by value."""
    died = str(died)

    def mortal(request):
        try:
            os.close(os.open(died, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return None
        os._exit(9)

    return [*PRESETS, mortal]


def json_of(results):
    return results.report("json")


def check_rows(folder, results):
    """Tasks wrote the rows of the results, and those of copies, which the notes name."""
    import pyarrow.dataset

    key = ("transcript", "conversation", "policy", "tokens.sent", "kept.hit")
    of = lambda table: {tuple(row[name] for name in key) for row in table.select(key).to_pylist()}  # noqa: E731
    written, counted = of(pyarrow.dataset.dataset(folder, format="parquet").to_table()), of(results.to_arrow("rows"))
    copies = {note["path"] for note in results.to_dict()["notes"] if note["what"].startswith("a copy")}
    assert counted <= written and {row[0] for row in written - counted} <= copies


def swept(files):
    """A sweep by the same stages in this process."""
    so_far = recompact.sweep(files, part=True, **SWEEP)
    while so_far.next_stage:
        so_far = recompact.merge([so_far, recompact.sweep(files, part=True, after=so_far, **SWEEP)])
    return json_of(recompact.finish(so_far))


@pytest.fixture(scope="module")
def expected_sweep():
    return swept(transcripts())


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    died = tmp_path_factory.mktemp("whole") / "died"
    died.touch()
    part = recompact.replay(transcripts(), policies(died), part=True)
    return json_of(recompact.finish(part))


def test_ray(expected, expected_sweep, tmp_path):
    pytest.importorskip("ray")
    import ray
    import ray.data

    import recompact.ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        files = transcripts()
        rows = [{"path": path} for path in files + files[: len(files) // PARTS]]
        size = -(-len(rows) // PARTS)
        mine, to = policies(tmp_path / "died"), tmp_path / "rows"
        results = recompact.ray.replay(ray.data.from_items(rows), mine, batch_size=size, rows=to)
        assert json_of(results) == expected
        check_rows(to, results)
        data = ray.data.read_binary_files(files[:9], include_paths=True)
        held = recompact.ray.replay(data, PRESETS, batch_size=3)
        found = recompact.ray.sweep(ray.data.from_items(rows), batch_size=size, **SWEEP)
    finally:
        ray.shutdown()
    assert (tmp_path / "died").exists()
    assert json_of(found) == expected_sweep
    assert json_of(held) == json_of(recompact.finish(recompact.replay(files[:9], PRESETS, part=True)))


def test_spark(expected, tmp_path, monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java")
    import recompact.spark

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    try:
        files = transcripts()
        rows = [(path,) for path in files + files[: len(files) // PARTS]]
        frame = spark.createDataFrame(rows, ["path"]).repartition(PARTS)
        results = recompact.spark.replay(frame, policies(tmp_path / "died"), rows=tmp_path / "rows")
        assert json_of(results) == expected
        check_rows(tmp_path / "rows", results)
        # Spark itself leaves out empty files.
        files = [file for file in files if os.path.getsize(file)][:9]
        data = spark.read.format("binaryFile").load(files)
        held, found = recompact.spark.replay(data, PRESETS), recompact.spark.sweep(data, **SWEEP)
    finally:
        spark.stop()
    assert (tmp_path / "died").exists()
    assert json_of(found) == swept(files)
    assert json_of(held) == json_of(recompact.finish(recompact.replay(files, PRESETS, part=True)))


def test_dask(expected, tmp_path):
    distributed = pytest.importorskip("distributed")
    files, mine = transcripts(), policies(tmp_path / "died")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:

        def part(paths):
            return recompact.replay(paths, mine, part=True, jobs=1, progress=False).data

        tasks = [client.submit(part, files[at::PARTS], pure=False) for at in [*range(PARTS), 0]]
        assert json_of(recompact.finish(client.gather(tasks))) == expected
    assert (tmp_path / "died").exists()


def test_files_of_an_object_store():
    pytest.importorskip("ray")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    import pyarrow.fs
    import ray
    import ray.data

    import recompact.ray

    files = {f"bucket/sessions/{n}/{Path(file).name}": Path(file).read_bytes() for n, file in enumerate(transcripts()[:9])}
    server.start()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        address = ":".join(map(str, server.get_host_and_port()))
        store = pyarrow.fs.S3FileSystem(
            access_key="key", secret_key="secret", endpoint_override=address, scheme="http", allow_bucket_creation=True
        )
        store.create_dir("bucket")
        for name, content in files.items():
            with store.open_output_stream(name) as stream:
                stream.write(content)
        dataset = ray.data.read_binary_files("bucket/sessions", filesystem=store, include_paths=True)
        results = recompact.ray.replay(dataset, PRESETS, batch_size=4)
    finally:
        ray.shutdown()
        server.stop()
    assert json_of(results) == json_of(recompact.replay_bytes(list(files.items()), PRESETS))
