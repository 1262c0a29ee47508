"""Results, reports and functions can be copied, and sent to other processes."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import recompact

CODEX = "fixtures/transcripts/codex/repair.jsonl"


def newest(request):
    return request.messages[-6:] if request.messages[-6:][0]["role"] == "user" else None


class Counting:
    def __init__(self):
        self.calls = 0

    def __call__(self, request):
        self.calls += 1


def replayed(policy):
    return recompact.replay(CODEX, policy, jobs=1)


@pytest.fixture(scope="module")
def results():
    return replayed("lcc-s06")


def test_results_are_pickled_as_they_are_saved(results, tmp_path):
    results.save(tmp_path / "results.json")
    loaded = recompact.load(tmp_path / "results.json")
    pickled = pickle.loads(pickle.dumps(results))
    assert pickled.to_dict() == results.to_dict() and pickled.rows == results.rows
    assert pickled.report("html") == loaded.report("html")


def test_other_processes_replay(results):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        [preset, function, holding] = pool.map(replayed, ["lcc-s06", recompact.policy.function(newest, "six"), Counting])
    assert preset.to_dict() == results.to_dict()
    assert function.to_dict() == replayed(recompact.policy.function(newest, "six")).to_dict()
    assert holding.total("Counting", "tokens.saved") == 0


def test_joblib_replays_and_keeps_results(results, tmp_path):
    joblib = pytest.importorskip("joblib")
    mine = recompact.policy.function(newest, "six")
    parallel = joblib.Parallel(n_jobs=2, backend="loky", temp_folder=str(tmp_path))
    preset, function, holding = parallel(joblib.delayed(replayed)(policy) for policy in ("lcc-s06", mine, Counting))
    assert preset.to_dict() == results.to_dict()
    assert function.to_dict() == replayed(mine).to_dict()
    assert holding.total("Counting", "tokens.saved") == 0

    kept = joblib.Memory(tmp_path, verbose=0).cache(replayed)
    assert kept(mine).to_dict() == function.to_dict() and kept.check_call_in_cache(mine)
    assert kept(mine).to_dict() == function.to_dict()
    assert not kept.check_call_in_cache(recompact.policy.function(newest, "six", timeout=60))


def test_ray_replays(results, monkeypatch):
    ray = pytest.importorskip("ray")
    # It neither writes a token into the home of the user nor says that it is used.
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    mine = recompact.policy.function(newest, "six")
    of_workers = {"env_vars": {"PYTHONPATH": str(Path(__file__).parent)}}
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, runtime_env=of_workers)
    try:
        remote = ray.remote(replayed)
        preset, function, holding = ray.get([remote.remote(policy) for policy in ("lcc-s06", mine, Counting)])
        sentence = ray.get(ray.remote(lambda results: results.verdict.sentence).remote(results))
    finally:
        ray.shutdown()
    assert preset.to_dict() == results.to_dict() and sentence == results.verdict.sentence
    assert function.to_dict() == replayed(mine).to_dict()
    assert holding.total("Counting", "tokens.saved") == 0


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_show_the_same(results, copied):
    other = copied(results)
    assert other is not results and other.summary == results.summary and repr(other) == repr(results)
    inspected = recompact.inspect(CODEX)
    assert copied(inspected).rows == inspected.rows


@pytest.mark.parametrize(
    "made",
    [
        lambda: recompact.inspect(CODEX),
        lambda: recompact.audit("fixtures/audit/damaged"),
        lambda: recompact.check("fixtures/gate/recompact.toml"),
        lambda: recompact.show(CODEX, "lcc-s06", call=9),
    ],
)
def test_reports_are_pickled_as_they_are_printed(made):
    report = made()
    pickled = pickle.loads(pickle.dumps(report))
    assert type(pickled) is type(report) and repr(pickled) == repr(report) and pickled.rows == report.rows
    assert pickled.report(full=True) == report.report(full=True)
    for name in set(vars(report)) - {"_shown"}:
        assert getattr(pickled, name) == getattr(report, name)
    with pytest.raises(recompact.RecompactError, match="a pickled report is 100 columns wide, not 60"):
        pickled.report(width=60)


def test_sessions_verdicts_and_functions_are_pickled(results):
    [session] = recompact.read(CODEX)
    for value in (session, results.verdict, results.columns, recompact.policy.function(newest, shape="openai", timeout=5)):
        assert pickle.loads(pickle.dumps(value)) == value == copy.deepcopy(value)
