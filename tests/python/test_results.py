"""Results are tables that pandas and Arrow take over, reports, and the saved form."""

import json
import subprocess
import sys

import pandas
import pyarrow
import pytest

import recompact


@pytest.fixture(scope="module")
def results():
    return recompact.replay("fixtures/transcripts/codex", ["lcc-s08", "claude-code"])


def test_tables_are_those_of_the_saved_form(results):
    saved = results.to_dict()
    rows = [row for row in saved["rows"] if not row.get("bound_of")]
    assert [row["transcript"] for row in results.rows] == [row["transcript"] for row in rows]
    for row, known in zip(results.rows, rows):
        assert {id: row[id] for id in known["values"]} == known["values"]
    assert [row["policy"] for row in results.summary] == ["keep-all", "lcc-s08", "claude-code", "recorded", "drop-all"]


@pytest.mark.parametrize("table", ["rows", "summary"])
@pytest.mark.parametrize("oracles", [False, True])
def test_pandas_and_arrow_hold_the_same(results, table, oracles):
    frame, arrow = results.to_pandas(table, oracles=oracles), results.to_arrow(table, oracles=oracles)
    pandas.testing.assert_frame_equal(frame, arrow.to_pandas(), check_dtype=False)
    assert arrow.validate(full=True) is None
    assert ("bound_of" in frame) == oracles
    if not oracles:
        expected = results.rows if table == "rows" else results.summary
        assert arrow.to_pylist() == expected


def test_arrow_columns_are_not_copied(results):
    buffers = dict(results._native.buffers("rows", False)[0])
    column = pyarrow.Array.from_buffers(pyarrow.float64(), 4, [None, pyarrow.py_buffer(buffers["calls"][2])])
    assert column.buffers()[1].address == pyarrow.py_buffer(buffers["calls"][2]).address


def test_counts_are_whole_numbers(results):
    whole = [column.id for column in results.columns if column.unit in ("count", "tokens", "bytes")]
    assert len(whole) > 10
    for table in ("rows", "summary"):
        frame, arrow = results.to_pandas(table), results.to_arrow(table)
        assert all(pandas.api.types.is_integer_dtype(frame[id]) for id in whole)
        assert {str(arrow.schema.field(id).type) for id in whole} == {"int64"}
    assert frame["transcripts"].tolist() == [1] * 5
    missing = [id for id in whole if results.to_pandas(oracles=True)[id].isna().any()]
    assert missing and all(results.to_arrow(oracles=True)[id].null_count for id in missing)
    assert isinstance(results.summary[0]["calls"], int) and isinstance(results.total("lcc-s08", "calls"), int)
    assert isinstance(results.total("lcc-s08", "tokens.saved"), float)


def test_whole_numbers_of_reports_are_whole_if_one_is_missing():
    frame = recompact.audit("fixtures/audit/damaged").to_pandas()
    assert str(frame["call"].dtype) == "Int64" and frame["call"].isna().any() and not frame["call"].isna().all()


def test_a_missing_value_is_none_and_null(results):
    ids = [id for id in results.summary[0] if results.summary[0][id] is None]
    assert ids
    assert results.to_arrow("summary")[ids[0]][0].as_py() is None
    assert results.to_pandas("summary")[ids[0]].isna()[0]


def test_a_sweep_has_configurations():
    # Nothing saves in a session this small.
    at_any_cost = ["cost.ratio < 9", "kept.hard <= 100%"]
    settings = ["clear.keep_recent_results=1,9"]
    found = recompact.sweep("fixtures/transcripts/codex", "anthropic-clear", set=settings, holdout=0, where=at_any_cost)
    frame = found.to_pandas()
    assert list(frame["clear.keep_recent_results"].fillna("as it is")) == ["as it is", "1", "9"]
    assert frame["recommended"].sum() == 1 and frame["recommended"].dtype == bool
    pandas.testing.assert_frame_equal(frame, found.to_arrow().to_pandas(), check_dtype=False)
    assert found.recommended.policy in set(frame["policy"])
    again = recompact.replay("fixtures/transcripts/codex", [found.recommended.toml])
    assert (
        again.total(found.recommended.policy, "cost.ratio") == frame.set_index("policy")["cost.ratio"][found.recommended.policy]
    )
    with pytest.raises(recompact.RecompactError, match="only the results of a sweep have configurations"):
        again.to_pandas("configurations")


def test_names_that_results_do_not_have_are_key_errors(results):
    with pytest.raises(KeyError, match="these results have no policy `lcc-s8`; did you mean `lcc-s08`"):
        results.total("lcc-s8", "broken.requests")
    with pytest.raises(KeyError, match="these results have no column `broken.requets`; did you mean `broken.requests`"):
        results.total("lcc-s08", "broken.requets")
    assert results.total("lcc-s08", "broken.requests") is not None and results.configurations == []


def test_columns_are_described(results):
    columns = {column.id: column for column in results.columns}
    assert columns["tokens.saved"].unit == "share" and columns["tokens.saved"].better == "higher"
    assert set(results.to_pandas()) >= set(columns)


def test_reports(results, tmp_path):
    assert "lcc-s08" in repr(results) and results.report("markdown").startswith("2 ") is not None
    assert results._repr_html_().startswith("<div") and "<script" not in results._repr_html_()
    for name in ["a.json", "a.csv", "a.html", "a.md", "a.txt"]:
        results.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 500
    assert recompact.load(tmp_path / "a.json").rows == results.rows
    with pytest.raises(recompact.RecompactError, match="the ending says no report"):
        results.save(tmp_path / "a.doc")
    with pytest.raises(recompact.RecompactError, match="there is no report `tabel`"):
        results.report("tabel")
    with pytest.raises(recompact.RecompactError, match="no-such.json: "):
        recompact.load(tmp_path / "no-such.json")


def test_a_page_in_a_notebook_shows_no_markup_of_a_transcript(results):
    class Hostile(recompact.Results):
        def report(self, *_, **__):
            return "<img src=x onerror=alert(1)>"

    assert "<img" not in Hostile(results._native)._repr_html_()


def test_the_saved_form_is_that_of_the_program(results, tmp_path):
    program = [
        sys.executable,
        "-m",
        "recompact",
        "replay",
        "fixtures/transcripts/codex",
        "-p",
        "lcc-s08,claude-code",
        "-o",
        "json",
    ]
    printed = json.loads(subprocess.run(program, check=True, capture_output=True).stdout)
    assert results.to_dict() == printed


def test_a_page_shows_the_requests_that_missed_facts(results, tmp_path):
    program = [sys.executable, "-m", "recompact", "replay", "fixtures/transcripts/codex", "-p", "lcc-s08,claude-code"]
    subprocess.run([*program, "--out", tmp_path / "theirs.html", "--quiet"], check=True, capture_output=True)
    results.save(tmp_path / "ours.html")
    ours, theirs = (tmp_path / name for name in ("ours.html", "theirs.html"))
    assert ours.read_text() == theirs.read_text()
    results.save(tmp_path / "results.json")
    recompact.load(tmp_path / "results.json").save(tmp_path / "loaded.html")
    assert ours.stat().st_size > (tmp_path / "loaded.html").stat().st_size


def test_pandas_and_arrow_are_imported_only_when_asked_for():
    code = "import sys, recompact; print([name for name in ('pandas', 'numpy', 'pyarrow', 'tqdm') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"
