"""Convert samples to shares of CPU time."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

from loadtests.profile.classify import Category, category
from loadtests.profile.stacks import Stacks
from loadtests.report.view import Field, Table

INTERVAL = "95% interval"
COLUMNS = ("", "CPU", INTERVAL, "µs per request")


@dataclasses.dataclass
class Role:
    """The CPU time of the processes that share a role, as counted by the kernel and by sampling.

    ``stacks`` contains a sample for each ``interval_s`` of CPU time, and is empty if the processes aren't Python
    processes. ``busy`` means that the processes rarely waited for requests.
    """

    role: str
    interval_s: float
    cpu_s: float = 0.0
    names: set[str] = dataclasses.field(default_factory=set)
    stacks: Stacks = dataclasses.field(default_factory=Counter)
    busy: bool = True

    @property
    def samples(self) -> int:
        return self.stacks.total()

    def counts(self) -> Counter[Category]:
        """Return the number of samples in each category.

        If there are fewer samples than the CPU time suggests, the missing samples count as NATIVE, because the running
        thread had no Python stack. This isn't true for a process that was often idle, because the kernel's tick, which
        drives the timer, misses sleeping threads.
        """
        counts: Counter[Category] = Counter()
        for stack, number in self.stacks.items():
            counts[category(stack)] += number
        if self.busy or not self.stacks:
            counts[Category.NATIVE] += max(0, round(self.cpu_s / self.interval_s) - self.samples)
        return +counts

    def to_dict(self, requests: int) -> dict[str, Any]:
        """Return the role's entry in profile.json. ``requests`` is the number of answered requests."""
        counts = self.counts()
        us_per_request = self.cpu_s / requests * 1e6
        shares = []
        for kind, number in counts.most_common():
            share = number / counts.total()
            low, high = wilson(number, counts.total())
            shares.append(
                {
                    "category": kind.value,
                    "share": share,
                    "low": low,
                    "high": high,
                    "us_per_request": share * us_per_request,
                }
            )
        return {
            "role": self.role,
            "names": sorted(self.names),
            "samples": self.samples,
            "expected": self.cpu_s / self.interval_s,
            "cpu_us_per_request": us_per_request,
            "shares": shares,
        }


def table(role: dict[str, Any]) -> Table:
    """Return a table of a role's CPU time by category. A narrow terminal omits the column with the interval."""
    rows = [
        (
            share["category"],
            f"{share['share']:.1%}",
            f"{share['low']:.1%} to {share['high']:.1%}",
            f"{share['us_per_request']:,.0f}",
        )
        for share in role["shares"]
    ]
    return Table(
        role["role"],
        f"{role['role']}: {role['cpu_us_per_request']:,.0f} µs of CPU time per request",
        COLUMNS,
        tuple(tuple(map(Field, row)) for row in rows),
        numeric=frozenset(range(1, len(COLUMNS))),
        optional=(COLUMNS.index(INTERVAL),),
    )


def side_by_side(documents: list[dict[str, Any]]) -> Table:
    """Return a table of the CPU time of a request by category, for several setups."""
    spent = [_spent(document) for document in documents]
    known = [one.value for one in Category if any(one.value in of_one for of_one in spent)]
    rows = {name: [of_one[name] for of_one in spent] for name in known}
    rows["all"] = [sum(of_one.values()) for of_one in spent]
    return Table(
        "side-by-side",
        "CPU time of a request, µs",
        ("", *(document["setup"] for document in documents)),
        tuple((Field(name), *(Field(f"{us:,.0f}") for us in each)) for name, each in rows.items()),
        numeric=frozenset(range(1, len(documents) + 1)),
    )


def _spent(document: dict[str, Any]) -> Counter[str]:
    """Return the CPU time of a request by category in µs, over all roles."""
    spent: Counter[str] = Counter()
    for role in document["roles"]:
        for share in role["shares"]:
            spent[share["category"]] += share["us_per_request"]
    return spent


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """Return Wilson's 95% interval for a proportion."""
    from scipy.stats import binomtest  # slow to import

    interval = binomtest(hits, trials).proportion_ci(0.95, "wilson")
    return float(interval.low), float(interval.high)
