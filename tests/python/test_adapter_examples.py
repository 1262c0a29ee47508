"""The example on the page of each adapter runs as printed, in an environment that has what the page names."""

import importlib
import re
from pathlib import Path

import pytest

import recompact

ADAPTERS = sorted(path.stem for path in Path(recompact.__file__).with_name("adapters").glob("[a-z]*.py"))
CODEX = Path(__file__).parents[2] / "fixtures/transcripts/codex"


@pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict")
@pytest.mark.parametrize("name", ADAPTERS)
def test_the_example_of_an_adapter_runs(name, tmp_path, monkeypatch):
    source = Path(recompact.__file__).with_name("adapters").joinpath(f"{name}.py").read_text(encoding="utf-8")
    page = source.split('"""')[1]
    [example] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert re.search(r"^Install `recompact` and `[a-z-]+`\.$", page, re.MULTILINE)
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    monkeypatch.setenv("OPENHANDS_SUPPRESS_BANNER", "1")
    try:
        importlib.import_module(f"recompact.adapters.{name}")
    except ImportError as error:
        pytest.skip(str(error))
    (tmp_path / "runs").symlink_to(CODEX, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    replayed = []
    replay = recompact.replay
    monkeypatch.setattr(recompact, "replay", lambda *given, **settings: replayed.append(replay(*given, **settings)))
    exec(compile(example, f"<{name}>", "exec"), {})
    [results] = replayed
    assert results.summary[0]["calls"] == 93
