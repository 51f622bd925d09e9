"""Describe why an application refuses requests under load, for example with 429, or why no user completes a journey."""

from __future__ import annotations

import re
from collections.abc import Sequence

from loadtests.errors import limit_hint
from loadtests.records import Result
from loadtests.workload import Load, SignIn

REFUSED = (403, 429)
# The texts of the load programs: "status 429 instead of 200" and "POST sign-in: 200 instead of 302".
_EXAMPLE = re.compile(r"(?:(?P<step>.+?): |status )(?P<answer>(?P<status>\d{3})\b.* instead of \d{3})")
SIGN_IN = "POST sign-in"


def refusal(result: Result | None, login: SignIn | None = None) -> str:
    """Describe the unexpected status if the application refused requests or gave no expected answer at all.

    Args:
        result: The result of a load.
        login: The login of the load's users, if any.

    Returns:
        A sentence with advice, or an empty string.
    """
    found = _EXAMPLE.fullmatch(result.examples.get("status", "")) if result else None
    if result is None or found is None:
        return ""
    status = int(found["status"])
    advice = limit_hint(status, worked=True)
    sign_ins = next((one for one in result.requests if one.name == SIGN_IN), None)
    if login and found["step"] == SIGN_IN and sign_ins and not sign_ins.ok:
        return (
            f"every sign-in failed: POST {login.login} answered {found['answer']}"
            f"{advice or '. If the application limits logins, switch its limit off'}"
        )
    if result.ok and status not in REFUSED:
        return ""
    many = sum((second.ends or {}).get(found["status"], 0) for second in result.timeline) or result.errors["status"]
    step = f", first to {found['step']}" if found["step"] else ""
    return f"the application answered {found['answer']} to {many:,} of {result.planned:,} requests{step}{advice}"


def failures(result: Result | None) -> str:
    """Describe the failed requests of a load from the client's view, or return an empty string if none failed."""
    if not (result and result.failed):
        return ""
    many = f"{sum(result.failed.values()):,} of {result.planned:,} requests failed"
    return f"{many}: {cause(result)}. Measure a faster page, or set a low rate, such as --rate 1"


def cause(result: Result) -> str:
    """Describe the most frequent failure of a load from the client's view, such as ``status 500 instead of 200``."""
    kind = max(result.failed, key=result.failed.__getitem__)
    late = "no answer in time" if result.deliveries else f"no answer in {Load.timeout_s:g} s"
    return late if kind == "unfinished" else result.examples.get(kind, kind)


def no_journey(results: Sequence[Result]) -> str:
    """Describe why no user completed a journey in any of the results. Return an empty string for other results."""
    walked = [(one, one.journeys) for one in results if one.journeys]
    if not walked or any(journeys.completed for _, journeys in walked):
        return ""
    result = walked[0][0]
    if result.examples:
        return f"no user completed a journey. First failure: {next(iter(result.examples.values()))}"
    return (
        f"no user completed a journey in {result.duration_s:.3g} s. Measure for longer than a journey takes (without "
        "--quick), or with fewer users"
    )
