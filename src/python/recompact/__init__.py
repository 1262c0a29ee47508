"""Replays recorded agent conversations through context-compaction policies.

`recompact` says what each policy saves, what it keeps of the facts that the agent used later, and what it breaks. It runs offline.

>>> import recompact
>>> results = recompact.replay("fixtures/transcripts/codex/repair.jsonl", ["lcc-s08", "claude-code"])
>>> round(results.total("lcc-s08", "tokens.saved"), 2)
0.75
>>> [row["policy"] for row in results.summary]
['keep-all', 'lcc-s08', 'claude-code', 'recorded', 'drop-all']

The guide explains what the numbers mean: `recompact guide` lists its pages.
"""

from . import policy
from ._analyses import AuditReport, CheckReport, InspectReport, audit, check, inspect
from ._comparison import Comparison, Difference, compare
from ._native import VERSION as __version__
from ._native import RecompactError
from ._parts import Part, finish, merge, replay_bytes
from ._policies import ExportedSettings, Policy, Preset, export_settings, preset, presets
from ._probe import ProbeReport, probe
from ._requests import Changes, ShownRequest, diff, show
from ._results import Column, Plot, Recommendation, Results
from ._settings import ModelSettings, SearchSettings, Settings
from ._studies import load, replay, sweep
from ._transcripts import Conversation, read
from ._verdict import Verdict
from ._watching import RecompactWarning

__all__ = [
    "AuditReport",
    "Changes",
    "CheckReport",
    "Column",
    "Comparison",
    "Conversation",
    "Difference",
    "ExportedSettings",
    "InspectReport",
    "ModelSettings",
    "Part",
    "Plot",
    "Policy",
    "Preset",
    "ProbeReport",
    "Recommendation",
    "RecompactError",
    "RecompactWarning",
    "Results",
    "SearchSettings",
    "Settings",
    "ShownRequest",
    "Verdict",
    "__version__",
    "audit",
    "check",
    "compare",
    "diff",
    "export_settings",
    "finish",
    "inspect",
    "load",
    "merge",
    "policy",
    "preset",
    "presets",
    "probe",
    "read",
    "replay",
    "replay_bytes",
    "show",
    "sweep",
]
