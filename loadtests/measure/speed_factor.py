"""How long a run still takes, at the pace so far: repeats and slow starts make it longer than planned."""

from __future__ import annotations

FIRM_S = 30.0  # of the plan: how much is to be done before the pace so far counts for more than the plan


def seconds_left(planned_s: float, done_s: float, took_s: float) -> float:
    """The seconds that the rest of a run takes.

    All of it was planned to take ``planned_s``, of which trials that were planned to take ``done_s`` are over, with
    their repeats, after ``took_s`` seconds. One slow start at the beginning says little: the pace is that of what is
    done and of FIRM_S more, as planned.
    """
    pace = (took_s + FIRM_S) / (done_s + FIRM_S)
    return max(0.0, planned_s - done_s) * pace
