"""A comparison finds the first request that differs, and nothing else."""

import pytest
from test_policies import CLEAR, SESSIONS, in_copies, raising

import recompact


def test_equal_policies_have_no_differences():
    compared = recompact.compare(SESSIONS, in_copies, CLEAR)
    assert compared and compared.conversations > 3 and compared.requests > 300


def test_the_first_difference_has_both_requests(codex):
    def late(request):
        messages = in_copies(request)
        return messages if request.call != 40 else messages[:-2]

    compared = recompact.compare(codex, late, CLEAR)
    assert not compared
    [difference] = compared.differences
    assert difference.call == 40
    assert difference.one == difference.other[: len(difference.one)] and len(difference.other) == len(difference.one) + 2
    roles = [message["role"] for message in difference.other]
    assert all(one != other for one, other in zip(roles, roles[1:]))


def test_what_a_policy_raises_is_raised(codex):
    with pytest.raises(recompact.RecompactError, match="call 1: the policy raising: ValueError: no messages") as raised:
        recompact.compare(codex, raising, "lcc-s06")
    assert isinstance(raised.value.__cause__, ValueError)
    with pytest.raises(recompact.RecompactError, match="call 1: the policy raising") as left_out:
        recompact.compare(codex, raising, "lcc-s06", on_error="skip")
    assert isinstance(left_out.value.__cause__, ValueError), "no session is left"


def test_two_policies_are_compared(codex):
    with pytest.raises(recompact.RecompactError, match="4 policies: two are needed, each with one summarizer"):
        recompact.compare(codex, "claude-code", "openhands", summarizer=["extract", "failing"])
