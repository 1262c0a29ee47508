"""Parts of a study merge into the whole study, to the byte."""

import io
import itertools
import json
import pickle
import tarfile
from pathlib import Path

import pytest

import recompact

FILES = [
    "fixtures/transcripts/codex/repair.jsonl",
    "fixtures/transcripts/openai-chat/tasks.json",
    "fixtures/transcripts/messages/repair.blocks.jsonl",
    "fixtures/transcripts/awkward/empty.jsonl",
]
POLICIES = ["lcc-s06", "sliding-window"]


def halved(request):
    return request.messages[-6:] if request.messages[-6:][0]["role"] == "user" else None


def json_of(results):
    return results.report("json")


@pytest.fixture(scope="module")
def whole():
    with pytest.warns(recompact.RecompactWarning, match="empty.jsonl"):
        return json_of(recompact.finish(recompact.replay(FILES, POLICIES, part=True)))


def finished(parts):
    with pytest.warns(recompact.RecompactWarning, match="1 file is no transcript in a known format and skipped: .*empty.jsonl"):
        return json_of(recompact.finish(parts))


def test_parts_merge_in_any_order_and_may_be_repeated(whole):
    parts = [pickle.loads(pickle.dumps(recompact.replay([file], POLICIES, part=True))) for file in FILES]
    for order in itertools.islice(itertools.permutations(parts), 0, 24, 7):
        assert finished([*order, parts[1]]) == whole
    assert recompact.merge(parts) == recompact.merge([parts[3], recompact.merge(parts[:3]), parts[0].data])


def test_files_and_bytes_are_parts_as_well(whole, tmp_path):
    parts = []
    for index, file in enumerate(FILES):
        part = recompact.replay_bytes([(file, Path(file).read_bytes())], POLICIES, part=True)
        part.save(tmp_path / str(index))
        parts.append(tmp_path / str(index))
    assert finished(parts) == whole


def test_a_sweep_goes_on_from_the_merged_part():
    search = {"set": "micro.keep_recent_results=1,3,9", "holdout": 0}
    whole = recompact.sweep(FILES[:2], "lcc-s06", **search)
    so_far, stages = None, []
    while so_far is None or so_far.next_stage:
        stages.append(so_far and so_far.next_stage)
        parts = [recompact.sweep([file], "lcc-s06", part=True, after=so_far, **search) for file in FILES[:2]]
        so_far = recompact.merge([*parts, *([so_far] if so_far else [])])
    assert json_of(recompact.finish(so_far)) == json_of(whole)
    sessions = whole.to_dict()["sweep"]["sessions"]
    # Three configurations, no compaction and, if an agent compacted, the recorded runs; then those found, with the bounds.
    assert len(stages) == 3 and all(f"on {sessions} sessions; 2 of 2 transcripts are left" in stage for stage in stages[1:])
    with pytest.raises(recompact.RecompactError, match="the sweep is complete"):
        recompact.sweep(FILES[:1], "lcc-s06", part=True, after=so_far, **search)
    with pytest.raises(recompact.RecompactError, match=r"a further stage, .* part=True, after=merge\(parts\)"):
        recompact.finish(recompact.sweep(FILES[:2], "lcc-s06", part=True, **search))
    with pytest.raises(recompact.RecompactError, match="after: a stage of a sweep gives a part"):
        recompact.sweep(FILES[:1], "lcc-s06", after=so_far)


def test_the_files_of_a_tar_are_those_of_the_folder(whole):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for file in FILES:
            tar.add(file)
    packed.seek(0)
    with tarfile.open(fileobj=packed) as tar:
        files = [(entry.name, tar.extractfile(entry).read()) for entry in tar if entry.isfile()]
    assert finished([recompact.replay_bytes(files, POLICIES, part=True)]) == whole


def test_a_column_of_messages_is_a_session_a_row():
    rows = [task["traj"] for task in json.loads(Path(FILES[1]).read_text())]
    results = recompact.replay_bytes([(f"{n}.json", json.dumps(row).encode()) for n, row in enumerate(rows)], POLICIES)
    listed = recompact.replay(FILES[1], POLICIES)
    for policy in ["keep-all", *POLICIES]:
        assert results.total(policy, "tokens.sent") == listed.total(policy, "tokens.sent")
    assert len({row["session"] for row in results.rows}) == len(rows)


def test_a_function_is_not_called_to_finish():
    part = recompact.replay(FILES[:2], halved, part=True)
    assert json_of(recompact.finish(part)) == json_of(recompact.replay(FILES[:2], halved))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: recompact.replay(FILES, part=True), ValueError, "policies: what is replayed by default depends on all transcripts"),
        (lambda: recompact.replay(FILES, "lcc-s06", part="yes"), TypeError, "part: True or False is needed, not 'yes'"),
        (lambda: recompact.replay(FILES, "lcc-s06", part=True, newest=1), ValueError, "newest: which sessions are the newest depends on all"),
        (lambda: recompact.merge([]), ValueError, "there is no part to merge"),
        (lambda: recompact.merge([b"{}"]), ValueError, "not a part"),
        (lambda: recompact.merge(b"{}"), TypeError, "parts: several parts are needed, not bytes"),
        (lambda: recompact.replay_bytes([], "lcc-s06"), ValueError, "transcripts: there is none"),
        (lambda: recompact.replay_bytes([("a", b"1"), ("a", b"2")], "lcc-s06"), ValueError, "two transcripts have the name a"),
        (lambda: recompact.Part("x"), TypeError, "data: bytes are needed, not str"),
    ],
)
def test_what_is_no_part_is_an_error(call, error, message):
    with pytest.raises(error, match=message):
        call()


def rows_of(folder):
    import pyarrow.dataset

    return pyarrow.dataset.dataset(folder, format="parquet").to_table().to_pylist()


def test_tasks_write_their_rows(tmp_path):
    pytest.importorskip("pyarrow")
    from recompact._parts import replay_batch
    from recompact._rows import folder

    to = folder(tmp_path / "rows")
    parts = [replay_batch([file], None, POLICIES, rows=to) for file in [*FILES, FILES[0]]]
    assert len(list((tmp_path / "rows").iterdir())) == 3, "a repeated task writes its file again, and one without a call writes none"
    whole = recompact.replay(FILES[:3], POLICIES).to_arrow("rows")
    expected = whole.drop(["kept.chance"]).to_pylist()
    assert sorted(map(repr, rows_of(to))) == sorted(map(repr, expected))
    assert parts[0] == replay_batch([FILES[0]], None, POLICIES)
    with pytest.raises(TypeError, match="rows: the address of a folder"):
        folder(7)


def test_rows_of_copies_in_other_tasks_are_in_the_notes(tmp_path):
    pytest.importorskip("pyarrow")
    from recompact._parts import replay_batch

    content = Path(FILES[0]).read_bytes()
    parts = [replay_batch([name], [content], POLICIES, rows=str(tmp_path)) for name in ("a.jsonl", "b.jsonl")]
    assert {row["transcript"] for row in rows_of(str(tmp_path))} == {"a.jsonl", "b.jsonl"}
    results = recompact.finish(parts)
    [note] = [note for note in results.to_dict()["notes"] if note["what"].startswith("a copy")]
    assert note["path"] == "b.jsonl" and {row["transcript"] for row in results.to_dict()["rows"]} == {"a.jsonl"}


def test_rows_go_to_an_object_store():
    pytest.importorskip("pyarrow")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    import pyarrow.fs

    from recompact._parts import replay_batch

    server.start()
    try:
        address = ":".join(map(str, server.get_host_and_port()))
        store = f"scheme=http&endpoint_override={address}&allow_bucket_creation=true"
        pyarrow.fs.FileSystem.from_uri(f"s3://key:secret@bucket?{store}")[0].create_dir("bucket")
        replay_batch([FILES[0]], None, POLICIES, rows=f"s3://key:secret@bucket/rows?{store}")
        system, path = pyarrow.fs.FileSystem.from_uri(f"s3://key:secret@bucket/rows?{store}")
        [file] = system.get_file_info(pyarrow.fs.FileSelector(path))
        with system.open_input_file(file.path) as stream:
            import pyarrow.parquet

            rows = pyarrow.parquet.read_table(stream).to_pylist()
    finally:
        server.stop()
    assert {row["policy"] for row in rows} >= set(POLICIES)
