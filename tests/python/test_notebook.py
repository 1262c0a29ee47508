"""What a notebook shows: the first screen, the plot, and results in spite of warnings."""

import re
import warnings
import xml.etree.ElementTree as ElementTree

import pytest

import recompact

CODEX = "fixtures/transcripts/codex"
POLICIES = ["lcc-s06", "lcc-s08", "claude-code", "anthropic-clear", "sliding-window"]


@pytest.fixture(scope="module")
def results():
    return recompact.replay(CODEX, POLICIES, window="60k", progress=False)


def words(markup):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", markup))


def test_the_first_screen_is_the_answer_with_a_table(results):
    shown = results._repr_html_()
    assert results.verdict.policy in words(shown) and "95% interval" in words(shown) and "facts in context" in words(shown)
    rows = ElementTree.fromstring(shown).findall(".//tbody/tr")
    assert len(rows) == len(POLICIES) + 2


@pytest.mark.parametrize("found", ["replay", "sweep", "two harnesses"])
def test_screens_propose_no_command_lines(found, results):
    if found == "sweep":
        results = recompact.sweep(CODEX, ["lcc-s06"], set=["micro.keep_recent_results=1,3,9"], window="60k", progress=False)
    if found == "two harnesses":
        paths = [CODEX, "fixtures/transcripts/claude-code"]
        results = recompact.replay(paths, ["claude-code", "codex"], progress=False, on_error="skip")
    for shown in (repr(results), words(results._repr_html_()), results.report("markdown")):
        assert not re.search(r"(^|[ (\[])--[a-z]|recompact [a-z-]+ ", shown), shown
    assert "results.plot()" in repr(results) and "Next" not in results._repr_html_()


def test_other_screens_propose_no_command_lines():
    for shown in (recompact.inspect(CODEX), recompact.audit(CODEX), recompact.check("fixtures/gate/recompact.toml")):
        assert not re.search(r"(^|[ (\[])--[a-z]|recompact [a-z-]+ ", repr(shown)), shown


def test_names_in_the_first_screen_are_no_markup():
    def same(request):
        return None

    mine = recompact.policy.function(same, "<img src=x>")
    results = recompact.replay(CODEX, [mine], progress=False)
    assert "<img" not in results._repr_html_() + results.plot().svg
    assert "&lt;img" in results._repr_html_() and "&lt;img" in results.plot().svg


def test_the_plot_is_a_picture_with_apart_names(results, tmp_path):
    plot = results.plot()
    plot.save(tmp_path / "plot.svg")
    picture = ElementTree.fromstring((tmp_path / "plot.svg").read_text(encoding="utf-8"))
    assert plot._repr_svg_() == plot.svg and "var(" not in plot.svg
    of_class = [(element.get("class") or "", element) for element in picture.iter()]
    assert sum("dot" in name.split() for name, _ in of_class) == len(POLICIES) + 3
    drawn = [element for name, element in of_class if name.split()[:1] == ["name"]]
    areas = [area(element) for element in drawn]
    assert len(areas) >= 4
    for at, one in enumerate(areas):
        for other in areas[:at]:
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1], (one, other)


def area(text):
    """Returns left, top, right and bottom of a name in the plotting area of 620 × 420 pixels, with 7 pixels a letter."""
    x = float(text.get("x").rstrip("%")) * 6.2 + float(text.get("dx"))
    y = float(text.get("y").rstrip("%")) * 4.2 + float(text.get("dy"))
    width = 7 * len(text.text)
    left = {"start": x, "end": x - width}.get(text.get("text-anchor"), x - width / 2)
    return left, y - 11, left + width, y + 2


def test_a_picture_is_no_other_file(results, tmp_path):
    assert repr(results.plot()).startswith("<plot: SVG with ")
    with pytest.raises(recompact.RecompactError, match="svg"):
        results.plot().save(tmp_path / "plot.png")


def test_a_warning_as_an_error_has_the_result(tmp_path):
    talk = '{"role": "user", "content": "Hello"}\n{"role": "assistant", "content": "Yes."}\n{"role": "us\n'
    (tmp_path / "torn.messages.jsonl").write_text(talk, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(recompact.RecompactWarning) as caught:
            recompact.replay(tmp_path, ["claude-code"], progress=False)
    assert caught.value.result.total("claude-code", "calls") == 1
