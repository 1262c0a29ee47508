"""The answer of a replay or a sweep as an object."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Verdict:
    """What to do, and why. It is true if a policy is to be shipped."""

    #: `ship`, `unproven`, `unconfirmed`, `no-yardstick`, `keep`, `none-fit`, `nothing-to-choose` or `per-harness`.
    outcome: str
    #: The policy that the answer names.
    policy: str | None
    #: What its cost differs by from that of `against`, as a share: -0.24 is 24 % less.
    change: float | None
    #: The 95 % interval of the change; None with fewer than six sessions.
    interval: tuple[float, float] | None
    #: The policy whose cost it is compared with.
    against: str | None
    #: The sentences of the first screen.
    reasons: list[str] = field(repr=False, default_factory=list)
    #: What to check before the answer is trusted, the most important first.
    warnings: list[str] = field(repr=False, default_factory=list)
    #: The answer for the sessions of each harness by its format, if several recorded them.
    harnesses: dict[str, Verdict] = field(repr=False, default_factory=dict)
    #: The field `verdict` of the JSON, which has every policy with its flaws.
    details: dict[str, Any] = field(repr=False, default_factory=dict)

    @classmethod
    def of(cls, details: dict[str, Any]) -> Verdict:
        """Returns the verdict that the JSON holds."""
        judged: dict[str, Any] = next((one for one in details["policies"] if one["policy"] == details.get("policy")), {})
        cost, interval = judged.get("cost"), judged.get("interval")
        return cls(
            outcome=details["choice"],
            policy=details.get("policy"),
            change=None if cost is None else cost - 1,
            interval=None if interval is None else (interval[0] - 1, interval[1] - 1),
            against=details.get("yardstick"),
            reasons=details.get("reasons", []),
            warnings=[warning["text"] for warning in details.get("warnings", [])],
            harnesses={harness["format"]: cls.of(harness) for harness in details.get("harnesses", [])},
            details=details,
        )

    @property
    def sentence(self) -> str:
        """The answer in a sentence; empty for one of several harnesses."""
        return self.reasons[0] if self.reasons else ""

    def __bool__(self) -> bool:
        return self.outcome == "ship"

    def __str__(self) -> str:
        return "\n".join(self.reasons)
