"""Numbers and phrases as text, alike in the terminal, the charts and the pages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

DASH = "–"
NOT_REACHED = "not reached"  # a percentile beyond the share of requests that were answered well

# A terminal's commands (CSI and OSC), then single characters: control characters but tab and newline, those that turn
# the direction of writing, and what XML forbids.
_COMMANDS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """The text without terminal commands and characters that XML forbids. All foreign data is printed through this."""
    return UNPRINTABLE.sub("", _COMMANDS.sub("", text))


def number(value: float | None) -> str:
    """Three significant digits: ``0.042 4.2 42.1 421 4,210``; a dash for None; infinite is not reached."""
    if value is None:
        return DASH
    if math.isinf(value):
        return NOT_REACHED
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 1:
        return f"{value:.2f}"
    if not size:
        return "0"
    return f"{value:#.3g}" if size >= 0.001 else f"{value:.1e}"


def per_second(rate: float) -> str:
    """A rate of requests: ``4.24``, ``42.1``, ``421``, ``4,213``."""
    return f"{rate:.3g}" if rate < 100 else f"{rate:,.0f}"


def percent(share: float) -> str:
    """A small share with two digits: ``41%``, ``3.1%``, ``0.12%``, ``0.012%``."""
    digits = 0 if share >= 0.0995 else 1 if share >= 0.00995 else 2 if share >= 0.000995 else 3
    return f"{share:.{digits}%}"


class Estimated(Protocol):
    """A figure that may be a lower bound."""

    @property
    def value(self) -> float: ...
    @property
    def at_least(self) -> bool: ...


def figure(found: Estimated | None) -> str:
    """``number`` of its value, with ``at least`` before a lower bound."""
    if found is None:
        return number(None)
    return f"at least {number(found.value)}" if found.at_least else number(found.value)


class Bounded(Protocol):
    """A figure with an interval: an estimate, a comparison, a noise floor."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def closed(found: Bounded) -> bool:
    """Whether the interval has both ends."""
    return found.low > 0 and math.isfinite(found.high)


UNINFORMATIVE = 100.0  # upper over lower end from which an interval is not shown


def informative(found: Bounded) -> bool:
    """Whether the interval is closed, and not a hundredfold wide."""
    return closed(found) and found.high < UNINFORMATIVE * found.low


def interval(found: Bounded) -> str:
    """``1.98 to 2.10``; empty where the interval is uninformative."""
    return f"{number(found.low)} to {number(found.high)}" if informative(found) else ""


def plus_minus(low: float, high: float) -> float:
    """Half the width of a ratio's interval, relative: 0.02 is plus or minus 2%. Infinite for an open interval."""
    if low <= 0 or not math.isfinite(high):
        return math.inf
    return math.exp((math.log(high) - math.log(low)) / 2) - 1


def relative(found: Bounded) -> str:
    """Half the interval's width, relative: ``±3%``, or a factor (``×÷2.5``); empty where it is uninformative."""
    if not informative(found):
        return ""
    half = plus_minus(found.low, found.high)
    if half >= 1:
        return f"×÷{number(1 + half)}"
    return f"±{half:.0%}" if half >= 0.095 else f"±{half:.1%}"


def ratio(value: float) -> str:
    """``×1.04``; a dash where one side has no finite figure."""
    if value == 0 or not math.isfinite(value):
        return DASH
    if value < 0.1:
        return f"×{value:.2g}"
    return f"×{value:.2f}" if value < 100 else f"×{value:,.0f}"


def change(value: float, what: str, words: tuple[str, str] = ("lower", "higher")) -> str:
    """A ratio as a change of ``what``: ``65% lower throughput``; from twice on ``2.1× the throughput``."""
    if value >= 1.995:
        return f"{value:.1f}× the {what}" if value < 9.95 else f"{value:,.0f}× the {what}"
    share = abs(value - 1)
    digits = 0 if 0.0095 <= share < 0.985 else 1
    return f"{share:.{digits}%} {words[value > 1]} {what}"


class Ratio(Protocol):
    """A ratio of figures of which either may be a lower bound."""

    @property
    def ratio(self) -> float: ...
    @property
    def at_least(self) -> bool: ...
    @property
    def at_most(self) -> bool: ...


def bounded_ratio(found: Ratio) -> str:
    """``ratio``, with ``at least`` or ``at most`` before a bound; a dash where both sides are bounds."""
    if found.at_least and found.at_most:
        return DASH
    text, bound = ratio(found.ratio), "at least " if found.at_least else "at most " if found.at_most else ""
    return text if text == DASH else f"{bound}{text}"


def ratio_interval(found: Bounded) -> str:
    """``×1.01 to ×1.07``, or ``over ×1.01`` with one end; empty where it is open, or uninformative and includes 1."""
    if found.low > 0 and math.isinf(found.high):
        return f"over {ratio(found.low)}"
    if found.low <= 0 and math.isfinite(found.high):
        return f"under {ratio(found.high)}"
    if not closed(found) or (found.low <= 1 <= found.high and not informative(found)):
        return ""
    return f"{ratio(found.low)} to {ratio(found.high)}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """``1 block``, ``2 blocks``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def span(counts: Iterable[int], one: str, many: str | None = None) -> str:
    """``2 blocks`` where all counts are alike, else ``1 to 2 blocks``."""
    ends = sorted(counts) or [0]
    most = plural(ends[-1], one, many)
    return most if ends[0] == ends[-1] else f"{ends[0]:,} to {most}"


def capital(text: str) -> str:
    """The text as a sentence begins."""
    return f"{text[:1].upper()}{text[1:]}"


def series(parts: Sequence[str], most: int | None = None) -> str:
    """``a, b and c``; of more than ``most`` those and how many more there are."""
    more = len(parts) - most if most is not None else 0
    named = [*parts[:most], f"{more} more"] if more > 1 else [*parts]
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def flat(values: Any, prefix: str = "") -> list[tuple[str, str]]:
    """A nested dictionary as rows: ``{"cpu": {"cores": 2}}`` gives ``("cpu cores", "2")``."""
    if isinstance(values, dict):
        rows = [flat(value, f"{prefix} {_worded(key)}".strip()) for key, value in values.items()]
        return [row for part in rows for row in part]
    if isinstance(values, (list, tuple)):
        return [(prefix, series([str(value) for value in values]) if values else DASH)]
    words = {None: DASH, True: "yes", False: "no"}
    return [(prefix, words[values] if values is None or isinstance(values, bool) else str(values))]


def _worded(key: str) -> str:
    """``memory_mb`` as words; foreign names with dots (``net.ipv4.tcp_tw_reuse``) stay."""
    return key if "." in key else key.replace("_", " ")
