"""Every setting of a study is a keyword argument, and a wrong one is explained."""

import datetime
import inspect

import pytest

import recompact
from recompact import _native


def test_settings_are_those_of_the_library():
    study, search = _native.known_settings()
    assert sorted(recompact.Settings.__annotations__) == sorted(study)
    assert sorted(recompact.SearchSettings.__annotations__) == sorted(search)


def test_signatures_show_the_settings():
    assert "window" in inspect.signature(recompact.replay).parameters
    assert "holdout" in inspect.signature(recompact.sweep).parameters
    assert "holdout" not in inspect.signature(recompact.replay).parameters


def test_a_setting_without_effect_is_an_error(codex):
    for function in (recompact.read, recompact.inspect, recompact.audit):
        with pytest.raises(TypeError, match="the setting `window` has no effect here"):
            function(codex, window=1_000)


def test_a_list_that_contains_itself_is_an_error(codex):
    endless = []
    endless.append(endless)
    with pytest.raises(TypeError, match="set: lists and dicts are nested more than 32 times"):
        recompact.replay(codex, "lcc-s06", set=endless)


def test_settings_take_effect(codex):
    [row] = recompact.replay(codex, "lcc-s06", bounds=False, baseline="lcc-s06").rows
    assert row["policy"] == "lcc-s06"
    small = recompact.replay(codex, ["lcc-s06"], window=20_000, set=["micro.keep_recent_results=1"])
    assert small.total("keep-all", "failed_calls") > 0
    assert small.total("lcc-s06", "tokens.sent") < recompact.replay(codex, ["lcc-s06"]).total("lcc-s06", "tokens.sent")


def test_values_may_be_written_as_python_has_them(codex):
    numpy = pytest.importorskip("numpy")

    def same(one, other):
        return recompact.replay(codex, "lcc-s06", **one).summary == recompact.replay(codex, "lcc-s06", **other).summary

    assert same({"set": {"micro.keep_recent_results": 1}}, {"set": ["micro.keep_recent_results=1"]})
    assert same({"set": "micro.keep_recent_results=1"}, {"set": ["micro.keep_recent_results=1"]})
    assert not same({"set": {"micro.keep_recent_results": 1}}, {})
    assert same({"window": 2e4}, {"window": 20_000}) and same({"window": numpy.int64(20_000)}, {"window": 20_000})
    assert not same({"window": 2e4}, {})
    assert same({"since": datetime.date(2020, 1, 2)}, {"since": "2020-01-02"})
    aware = datetime.datetime(2020, 1, 2, 23, tzinfo=datetime.timezone(datetime.timedelta(hours=-5)))
    assert same({"since": aware}, {"since": "2020-01-03"}) and same({"since": "500w"}, {})
    assert same({"misses": numpy.int32(2), "seed": 7.0, "findings": numpy.True_}, {"misses": 2, "seed": 7, "findings": True})
    assert same({"set": {"micro.keep_recent_results": numpy.int64(1)}}, {"set": "micro.keep_recent_results=1"})
    assert same({"set": {"micro.keep_recent_results": 1.0}, "jobs": 2.0}, {"set": "micro.keep_recent_results=1"})
    found = recompact.sweep(codex, "lcc-s06", set={"micro.keep_recent_results": [1, 3]}, where="kept.hit > 0", minimize="cost.ratio")
    assert len(found.configurations) == 2


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"windw": 1}, TypeError, "there is no setting `windw`; did you mean `window`?"),
        ({"window": 0}, recompact.RecompactError, "0 tokens"),
        ({"progress": "yes"}, TypeError, "progress: True, False, None or a function is needed, not 'yes'"),
        ({"window": "abc"}, recompact.RecompactError, "window: `abc` is not a size"),
        ({"window": object()}, TypeError, "window: a number or a text is needed, not <object object"),
        ({"thinking": "some"}, recompact.RecompactError, "thinking: one of `turn`, `all`, `none` is needed, not 'some'"),
        ({"set": ["a.b=3"]}, recompact.RecompactError, "no policy here has a layer `a`"),
        ({"overhead": 2**80}, recompact.RecompactError, "overhead: the number is too large"),
        ({"holdout": 0.3}, TypeError, "there is no setting `holdout`"),
        ({"summarizer": "openai:some-model"}, recompact.RecompactError, "a replay in Python asks no model"),
    ],
)
def test_wrong_settings_are_explained(codex, settings, error, message):
    with pytest.raises(error, match=message.replace("?", r"\?")):
        recompact.replay(codex, ["lcc-s06"], **settings)


@pytest.mark.parametrize(
    ("policy", "error", "message"),
    [
        ("lcc-s80", recompact.RecompactError, "there is no preset and no file of this name"),
        ("name = \n", recompact.RecompactError, "a policy is no TOML"),
        ({"name": "mine", "layer": [{"id": "a", "do": "clean"}]}, recompact.RecompactError, "clean"),
        (7, TypeError, "a policy is the name of a preset"),
    ],
)
def test_wrong_policies_are_explained(codex, policy, error, message):
    with pytest.raises(error, match=message):
        recompact.replay(codex, [policy])


def test_a_policy_may_be_a_name_a_path_a_text_or_a_dict(codex, tmp_path):
    text = 'name = "mine"\n[[layer]]\nid = "old"\ndo = "clear"\nkeep_recent_results = 5\n'
    path = tmp_path / "mine.toml"
    path.write_text(text)
    content = {"name": "mine", "layer": [{"id": "old", "do": "clear", "keep_recent_results": 5}]}
    numpy = pytest.importorskip("numpy")
    of_numpy = {"name": "mine", "layer": [{"id": "old", "do": "clear", "keep_recent_results": numpy.int64(5)}]}
    sent = {recompact.replay(codex, policy).total("mine", "tokens.sent") for policy in (text, path, str(path), content, of_numpy)}
    assert len(sent) == 1
