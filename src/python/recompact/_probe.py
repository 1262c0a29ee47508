"""What a model finds in the requests of policies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, get_args

from . import _arguments, _native
from ._calls import without_running_loop
from ._policies import OnError, Policies, given
from ._results import Rows
from ._settings import MODELS, PROBING, Whole, only, split, takes
from ._watching import Paths, Progress, finished, list_of, watching

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import ModelSettings, Probing

    class _Probe(Probing, ModelSettings, total=False):
        pass


#: How a model is asked about a fact. `questions`: which word is left out of this line? The answer is right or wrong. `surprise`: how
#: probable is the recorded response where it names the fact? The loss is in bits.
By = Literal["questions", "surprise"]


class ProbeReport(Rows):
    """What a model found. `rows` has a dict for each question, or each use of a fact; of a dry run, for each kind of question.

    `to_dict()` has the answers by policy and by kind of fact, and how far they agree with `kept.hit`.
    """

    def __init__(self, document: _native.Document, by: By, is_dry: bool) -> None:
        super().__init__(document)
        #: How the model was asked.
        self.by = by
        #: Nothing was asked.
        self.is_dry = is_dry
        self._list = "asked" if by == "questions" else "uses"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each question or use."""
        rows: list[dict[str, Any]] = self.to_dict() if self.is_dry else super().rows
        return rows


@takes(*PROBING, *MODELS)
def probe(
    paths: Paths,
    policies: Policies,
    model: str,
    *,
    by: By = "questions",
    questions: Whole = 100,
    max_context: Whole | None = None,
    dry_run: bool = False,
    session_model: str | None = None,
    allow_programs: bool = False,
    on_error: OnError = "raise",
    jobs: int | None = None,
    progress: bool | Progress | None = None,
    **settings: Unpack[_Probe],
) -> ProbeReport:
    """Asks a model what it finds in the requests of policies, to test whether `kept.hit` is right.

    `model` is asked by questions as `openai:MODEL`, `anthropic:MODEL` or `command:PROGRAM`, and by surprise as `llama-server:MODEL` or
    `completions:MODEL`. `questions` is the maximum number of questions (or uses of facts) over all policies; each is asked with the
    request of the policy, with the whole history, and as a control. `max_context` is the maximum of tokens of the messages of a request;
    default: 8000, and longer requests are left out; by surprise 1000, and requests are trimmed to the newest messages and the block
    that held the fact. `dry_run` counts the questions and their tokens, and asks nothing. `session_model` is a part of the name of a recorded
    model. The other arguments are those of `replay`.

    >>> import recompact
    >>> plan = recompact.probe("fixtures/transcripts/codex", "lcc-s08", "openai:gpt-5.5", questions=20, dry_run=True)
    >>> [(row["of"], row["questions"]) for row in plan.rows]
    [('lcc-s08', 13), ('full context', 2), ('no context', 13)]

    Raises `RecompactError` if the model gives no answer to a question; those that it gave are in the `cassette`, if there is one.
    """
    if by not in get_args(By):
        raise ValueError(f"by: write 'questions' or 'surprise', not {by!r}")
    if not isinstance(model, str):
        raise TypeError(f"model: the name of a model is needed, such as 'openai:gpt-5.5', not {type(model).__name__}")
    models, study = split(only((*PROBING, *MODELS), settings), MODELS)
    study["model"] = session_model
    is_dry = _arguments.flag("dry_run", dry_run)
    asking = {"model": model, "by": by, "questions": _arguments.count("questions", questions), "dry_run": is_dry, **models}
    asking["max_context"] = None if max_context is None else _arguments.count("max_context", max_context)
    if isinstance(asking.get("cassette"), os.PathLike):
        asking["cassette"] = os.fspath(asking["cassette"])
    probed = given(policies, allow_programs, on_error)
    with watching(jobs, progress) as watch, without_running_loop():
        document, skipped = _native.probe(list_of(paths), probed, study, asking, watch)
    return finished(skipped, ProbeReport(document, by, is_dry))
