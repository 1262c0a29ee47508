"""What the program has beside replays: presets, one request, differences of results, settings of harnesses, the verdict."""

import json
import random
import string
import subprocess
import sys

import pytest

import recompact


def program(*arguments):
    command = [sys.executable, "-m", "recompact", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_request_is_shown_as_the_program_shows_it(codex):
    shown = recompact.show(codex, "lcc-s06", call=9)
    assert shown.to_dict() == json.loads(program("show", codex, "-p", "lcc-s06", "--call", "9", "-o", "json"))
    assert [row["state"] for row in shown.changed] == ["rewritten"] * 8
    assert set(shown.to_pandas()["layer"].dropna()) == {"micro"}


def test_the_messages_of_a_request_are_those_that_are_sent(codex):
    seen = {}

    def policy(request):
        seen[request.call] = json.loads(json.dumps(request.messages))

    shown = recompact.show(codex, policy, call=9)
    assert [message["role"] for message in shown.messages] == [message["role"] for message in seen[9]]
    assert shown.messages[-1] == seen[9][-1]
    cleared = recompact.show(codex, "lcc-s06", call=9).messages
    assert len(cleared) == len(shown.messages) and cleared != shown.messages
    assert "[Previous: used exec_command]" in json.dumps(cleared)


def test_secrets_are_hidden_in_messages(tmp_path):
    secret = "ghp_" + "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=36))
    lines = [
        {"role": "user", "content": f"Use the token {secret} for it."},
        {"role": "assistant", "content": [{"type": "text", "text": "I do."}]},
    ]
    path = tmp_path / "secret.messages.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "[secret]" in json.dumps(recompact.show(path).messages)
    assert secret in json.dumps(recompact.show(path, show_secrets=True).messages)


def test_a_function_that_raises_is_the_cause(codex):
    def raising(request):
        raise ValueError("no messages")

    with pytest.raises(recompact.RecompactError, match="call 1: .*no messages") as raised:
        recompact.show(codex, raising)
    assert isinstance(raised.value.__cause__, ValueError)


def test_what_changed_between_results(codex, tmp_path):
    results = [recompact.replay(codex, "claude-code", window=window) for window in ("60k", "70k")]
    paths = [tmp_path / "before.json", tmp_path / "after.json"]
    for result, path in zip(results, paths):
        result.save(path)
    assert recompact.diff(*results).to_dict() == json.loads(program("diff", *map(str, paths), "-o", "json"))
    with pytest.raises(recompact.RecompactError, match="no conversation is in both results"):
        recompact.diff(results[0], recompact.replay("fixtures/transcripts/openai-chat", "claude-code"))


def test_presets_are_those_of_the_catalog():
    listed = program("catalog", "policies")
    assert len(recompact.presets()) > 50
    for preset in recompact.presets():
        assert f" {preset.name} " in listed and preset.family in listed and preset.about


def test_policies_that_are_not_named_are_those_of_the_program(codex):
    theirs = json.loads(program("replay", codex, "-o", "json"))
    assert recompact.replay(codex).to_dict() == theirs


def test_settings_of_a_harness(codex):
    exported = recompact.export_settings("codex", window=100_000)
    printed = program("export-settings", "--for", "codex", "--window", "100k")
    assert exported.text == "model_auto_compact_token_limit = 90000\n" and printed.endswith(exported.text)
    mine = recompact.preset("codex-cli")
    assert recompact.export_settings("codex", mine, window=1e5).text == exported.text
    kept = recompact.export_settings("codex", recompact.replay(codex, "codex-cli"))
    assert kept.text == "" and "Keep what you have" in kept.comment[1]
    with pytest.raises(recompact.RecompactError, match="partial writes the rest"):
        recompact.export_settings("codex", "claude-code")


def test_the_verdict_is_that_of_the_screen(codex):
    results = recompact.replay(codex, "claude-code", window="80k")
    verdict = results.verdict
    assert verdict.sentence.startswith("It is not proven that claude-code saves money: it costs 28% less")
    assert "It is not proven that `claude-code` saves money" in " ".join(str(results).split())
    assert verdict.details == results.to_dict()["verdict"] and not verdict
    assert verdict.change == pytest.approx(results.total("claude-code", "cost.usd") / results.total("recorded", "cost.usd") - 1)
    both = recompact.replay([codex, "fixtures/transcripts/claude-code"], "claude-code", window="80k").verdict
    assert both.outcome == "per-harness" and both.harnesses["codex"].policy == "claude-code"
