"""What a model finds in requests: asked by questions and by surprise, as the program does it. No model is asked over a network."""

import copy
import http.server
import inspect
import json
import pickle
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import recompact

READER = f"command:{sys.executable} {Path(__file__).with_name('reader.py')}"
POLICIES = ["lcc-s08", "drop-all"]


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """Twelve questions, with the answers in a cassette."""
    cassette = tmp_path_factory.mktemp("cassette")
    session = "fixtures/transcripts/claude-code/repair.jsonl"
    return session, cassette, recompact.probe(session, POLICIES, READER, questions=12, max_context=16_000, cassette=cassette)


def test_a_model_that_reads_finds_what_is_in_the_request(answered):
    _, _, report = answered
    assert len(report.rows) == 12 and {row["policy"] for row in report.rows} == set(POLICIES)
    for row in report.rows:
        # The whole history may be too long to be asked about.
        assert (row["everything"] is None or row["everything"]["right"]) and not row["nothing"]["right"]
        assert row["context"]["right"] == row["line_in_sight"], row
    policies = {answers["policy"]: answers for answers in report.to_dict()["policies"]}
    assert policies["drop-all"]["hits"]["asked"] == 0 and policies["lcc-s08"]["hits"]["asked"] > 0
    assert report.by == "questions" and not report.is_dry and "lcc-s08" in str(report)


def test_the_answers_of_a_cassette_are_those_of_the_program(answered):
    session, cassette, report = answered
    again = recompact.probe(session, POLICIES, READER, questions=12, max_context=16e3, cassette=cassette, cassette_mode="replay")
    assert again.to_dict() == report.to_dict()
    missing = "the cassette .* holds no answer"
    with pytest.raises(recompact.RecompactError, match=missing):
        recompact.probe(session, POLICIES, READER, questions=13, max_context=16_000, cassette=cassette, cassette_mode="replay")


def test_a_report_can_be_copied_and_pickled(answered):
    report = answered[2]
    for copied in (copy.deepcopy(report), pickle.loads(pickle.dumps(report))):
        assert copied.rows == report.rows and copied.by == "questions"
    assert list(report.to_pandas()["policy"]) == [row["policy"] for row in report.rows]


@pytest.mark.parametrize("by", ["questions", "surprise"])
def test_a_dry_run_asks_nothing(codex, by):
    model = {"questions": "openai:m", "surprise": "llama-server:m"}[by]
    plan = recompact.probe(codex, "lcc-s08", model, by=by, questions=20, base_url="http://127.0.0.1:9", dry_run=True)
    assert plan.is_dry and plan.by == by and plan.to_dict() == plan.rows
    assert sum(row["questions"] for row in plan.rows) >= 20 and all(row["tokens"] > 0 for row in plan.rows)
    assert pickle.loads(pickle.dumps(plan)).rows == plan.rows


def test_a_function_is_probed_as_the_policy_that_it_is(codex):
    def nothing(request):
        return None

    mine, keep = (recompact.probe(codex, policy, "openai:m", questions=5, dry_run=True).rows for policy in (nothing, "keep-all"))
    assert [row["tokens"] for row in mine] == [row["tokens"] for row in keep] and mine[0]["of"] != keep[0]["of"]


class Server(http.server.BaseHTTPRequestHandler):
    """A server to which each character is as probable as a coin's side."""

    asked = 0

    def do_POST(self):
        Server.asked += 1
        prompt = json.loads(self.rfile.read(int(self.headers["content-length"])))["prompt"]
        tokens = [*prompt, "."]
        logprobs = {"tokens": tokens, "token_logprobs": [None, *[-0.6931471805599453] * (len(tokens) - 1)]}
        answer = json.dumps({"choices": [{"text": prompt + ".", "logprobs": logprobs}], "usage": {"prompt_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    Server.asked = 0
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def test_surprise_is_measured_in_bits(codex, server):
    report = recompact.probe(codex, "drop-all", f"completions:m@{server}", by="surprise", questions=6, key_env="")
    assert report.by == "surprise" and len(report.rows) == 6
    for use in report.rows:
        # One bit for each character, whatever the request holds.
        assert use["full"] == pytest.approx(len(use["fact"]), abs=0.01) and use["lost"] == pytest.approx(0, abs=0.01)


def test_limits_of_calls_and_dollars_hold(codex, server):
    def asking(model, **limits):
        recompact.probe(codex, "drop-all", f"{model}@{server}", by="surprise", questions=6, key_env="", **limits)

    with pytest.raises(recompact.RecompactError, match="max_calls 3: the limit is reached"):
        asking("completions:m", max_calls=3)
    assert Server.asked == 3
    with pytest.raises(recompact.RecompactError, match=r"max_cost 0\.000000001: \$0\.0000 is spent, and the next call may cost up to"):
        asking("completions:gpt-5.5", max_cost=1e-9)
    with pytest.raises(recompact.RecompactError, match="max_cost: the price of completions:m is not known"):
        asking("completions:m", max_cost=1)
    assert Server.asked == 3
    asking("completions:m", max_calls=100)
    assert 3 + 6 <= Server.asked <= 3 + 100


def test_the_defaults_of_a_model_are_those_of_the_program():
    printed = subprocess.run([sys.executable, "-m", "recompact", "probe", "--help-all"], capture_output=True, text=True, check=True)
    options = re.split(r"^ +(?:-\w, )?--", printed.stdout, flags=re.MULTILINE)
    described = [re.match(r"([a-z-]+) .*\[default: ([^\]]*)\]", option, re.DOTALL) for option in options]
    of_program = {option[1].replace("-", "_"): option[2] for option in described if option}
    parameters = inspect.signature(recompact.probe).parameters
    for name in ("timeout", "retries", "concurrency", "cassette_mode", "questions"):
        assert str(parameters[name].default) == of_program[name], name


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_the_questions(codex, tmp_path):
    asked = tmp_path / "asked"
    program = tmp_path / "slow.py"
    program.write_text(f"import time\nopen({str(asked)!r}, 'a').write('.')\ntime.sleep(0.3)\nprint('UNKNOWN')\n")

    def interrupt(*_):
        if asked.exists() and not interrupted:
            interrupted.append(True)
            signal.raise_signal(signal.SIGINT)

    interrupted = []
    with pytest.raises(KeyboardInterrupt):
        recompact.probe(codex, "lcc-s08", f"command:{sys.executable} {program}", questions=100, progress=interrupt)
    # Of more than a hundred questions, those that were asked when it came, and what was about to be asked.
    assert len(asked.read_text()) < 20


def test_what_is_wrong_is_said_in_the_words_of_the_caller(codex):
    wrong = [
        (ValueError, "by: write 'questions' or 'surprise', not 'bits'", {"by": "bits"}),
        (ValueError, "questions: 1 or more is needed, not 0", {"questions": 0}),
        (TypeError, "questions: a whole number is needed, not 'many'", {"questions": "many"}),
        (TypeError, "dry_run: True or False is needed, not 1", {"dry_run": 1}),
        (TypeError, "the setting `baseline` has no effect here", {"baseline": "recorded"}),
        (TypeError, "there is no setting `windwo`; did you mean `window`", {"windwo": 1}),
        (TypeError, "retries: .* is needed, not 'x'", {"retries": "x"}),
        (ValueError, "cassette_mode: .*`auto`.* is needed, not 'play'", {"cassette_mode": "play"}),
        (ValueError, "OPENAI_NO_KEY is not set; base_url uses another server", {"key_env": "OPENAI_NO_KEY"}),
    ]
    for error, message, arguments in wrong:
        with pytest.raises(error, match=message):
            recompact.probe(codex, "lcc-s08", "openai:m", **arguments)
    with pytest.raises(recompact.RecompactError, match="model: name one, such as .*, not 'gpt'"):
        recompact.probe(codex, "lcc-s08", "gpt")
    with pytest.raises(TypeError, match="model: the name of a model is needed"):
        recompact.probe(codex, "lcc-s08", 5)
