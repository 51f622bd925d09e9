"""Format numbers and phrases in the same way for the terminal, the charts and the pages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

DASH = "–"
NOT_REACHED = "not reached"  # the text for a percentile that is higher than the share of successful requests

# Terminal commands (CSI and OSC), then single characters: control characters except tab and newline, characters that
# change the direction of writing, and characters that XML forbids.
_COMMANDS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """Remove terminal commands and characters that XML forbids.

    The harness prints all foreign data through this function.
    """
    return UNPRINTABLE.sub("", _COMMANDS.sub("", text))


def number(value: float | None) -> str:
    """Format a number with three significant digits, such as ``0.0420``, ``4.20`` or ``4,210``.

    None becomes a dash, and infinity becomes "not reached".
    """
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
    """Format a rate per second, such as ``4.24``, ``42.1``, ``421`` or ``4,213``."""
    return f"{rate:.3g}" if rate < 100 else f"{rate:,.0f}"


def percent(share: float) -> str:
    """Format a share with two significant digits, such as ``41%``, ``3.1%``, ``0.12%`` or ``0.012%``."""
    digits = 0 if share >= 0.0995 else 1 if share >= 0.00995 else 2 if share >= 0.000995 else 3
    return f"{share:.{digits}%}"


class Estimated(Protocol):
    """A figure that may be a lower bound."""

    @property
    def value(self) -> float: ...
    @property
    def at_least(self) -> bool: ...


def figure(found: Estimated | None) -> str:
    """Format a figure with ``number``, and put ``at least`` before a lower bound."""
    if found is None:
        return number(None)
    return f"at least {number(found.value)}" if found.at_least else number(found.value)


class Bounded(Protocol):
    """A figure with an interval, such as an estimate, a comparison or a noise floor."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def closed(found: Bounded) -> bool:
    """Return whether the interval has a lower and an upper end."""
    return found.low > 0 and math.isfinite(found.high)


UNINFORMATIVE = 100.0  # an interval isn't shown if its upper end is at least this multiple of its lower end


def informative(found: Bounded) -> bool:
    """Return whether the interval is closed and its upper end is less than 100 times its lower end."""
    return closed(found) and found.high < UNINFORMATIVE * found.low


def interval(found: Bounded) -> str:
    """Format an interval as ``1.98 to 2.10``. The text is empty if the interval is uninformative."""
    return f"{number(found.low)} to {number(found.high)}" if informative(found) else ""


def plus_minus(low: float, high: float) -> float:
    """Return half the relative width of a ratio's interval, such as 0.02 for ±2%.

    An open interval has an infinite width.
    """
    if low <= 0 or not math.isfinite(high):
        return math.inf
    return math.exp((math.log(high) - math.log(low)) / 2) - 1


def relative(found: Bounded) -> str:
    """Format half the relative width of an interval as ``±3%``, or as ``×÷2.5`` if it is 100% or more.

    The text is empty if the interval is uninformative.
    """
    if not informative(found):
        return ""
    half = plus_minus(found.low, found.high)
    if half >= 1:
        return f"×÷{number(1 + half)}"
    return f"±{half:.0%}" if half >= 0.095 else f"±{half:.1%}"


def ratio(value: float) -> str:
    """Format a ratio as ``×1.04``, or as a dash if it is 0 or infinite."""
    if value == 0 or not math.isfinite(value):
        return DASH
    if value < 0.1:
        return f"×{value:.2g}"
    return f"×{value:.2f}" if value < 100 else f"×{value:,.0f}"


def change(value: float, what: str, words: tuple[str, str] = ("lower", "higher")) -> str:
    """Format a ratio as a change: ``65% lower throughput``, or for ratios of 2 or more, ``2.1× the throughput``."""
    if value >= 1.995:
        return f"{value:.1f}× the {what}" if value < 9.95 else f"{value:,.0f}× the {what}"
    share = abs(value - 1)
    digits = 0 if 0.0095 <= share < 0.985 else 1
    return f"{share:.{digits}%} {words[value > 1]} {what}"


class Ratio(Protocol):
    """A ratio of two figures. Each figure may be a lower bound."""

    @property
    def ratio(self) -> float: ...
    @property
    def at_least(self) -> bool: ...
    @property
    def at_most(self) -> bool: ...


def bounded_ratio(found: Ratio) -> str:
    """Format a ratio, and put ``at least`` or ``at most`` before it if a figure is a lower bound.

    If both figures are lower bounds, return a dash.
    """
    if found.at_least and found.at_most:
        return DASH
    text, bound = ratio(found.ratio), "at least " if found.at_least else "at most " if found.at_most else ""
    return text if text == DASH else f"{bound}{text}"


def ratio_interval(found: Bounded) -> str:
    """Format an interval as ``×1.01 to ×1.07``, or as ``over ×1.01`` or ``under ×1.01`` if it has only one end.

    The text is empty if the interval has no ends, or if it is uninformative and includes 1.
    """
    if found.low > 0 and math.isinf(found.high):
        return f"over {ratio(found.low)}"
    if found.low <= 0 and math.isfinite(found.high):
        return f"under {ratio(found.high)}"
    if not closed(found) or (found.low <= 1 <= found.high and not informative(found)):
        return ""
    return f"{ratio(found.low)} to {ratio(found.high)}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun, such as ``1 block`` or ``2 blocks``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def span(counts: Iterable[int], one: str, many: str | None = None) -> str:
    """Format counts as ``2 blocks`` if they are all equal, or else as ``1 to 2 blocks``."""
    ends = sorted(counts) or [0]
    most = plural(ends[-1], one, many)
    return most if ends[0] == ends[-1] else f"{ends[0]:,} to {most}"


def capital(text: str) -> str:
    """Capitalize the first letter."""
    return f"{text[:1].upper()}{text[1:]}"


def series(parts: Sequence[str], most: int | None = None) -> str:
    """Join parts as ``a, b and c``.

    If there are more than ``most`` parts, the other parts become ``3 more``. A single part is never left out.
    """
    more = len(parts) - most if most is not None else 0
    named = [*parts[:most], f"{more} more"] if more > 1 else [*parts]
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def flat(values: Any, prefix: str = "") -> list[tuple[str, str]]:
    """Flatten a nested dictionary into rows: ``{"cpu": {"cores": 2}}`` becomes ``[("cpu cores", "2")]``."""
    if isinstance(values, dict):
        # Names with dots are foreign, such as ``net.ipv4.tcp_tw_reuse``.
        worded = {key: key if "." in key else key.replace("_", " ") for key in values}
        rows = [flat(value, f"{prefix} {worded[key]}".strip()) for key, value in values.items()]
        return [row for part in rows for row in part]
    if isinstance(values, (list, tuple)):
        return [(prefix, series([str(value) for value in values]) if values else DASH)]
    words = {None: DASH, True: "yes", False: "no"}
    return [(prefix, words[values] if values is None or isinstance(values, bool) else str(values))]
