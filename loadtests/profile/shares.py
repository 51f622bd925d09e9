"""Convert samples to shares of CPU time."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from loadtests.profile.classify import Category, category
from loadtests.profile.stacks import Stacks


@dataclasses.dataclass(frozen=True)
class Sampled:
    """The CPU time of a process in a round of ``seconds`` seconds, as counted by the kernel and by sampling.

    ``stacks`` contains a sample for each ``interval_s`` of CPU time. The value is None if the process isn't a Python
    process. ``busy`` means that the process rarely waited for requests.
    """

    role: str
    name: str
    cpu_s: float
    seconds: float
    interval_s: float
    stacks: Stacks | None
    busy: bool = True


@dataclasses.dataclass(frozen=True)
class Share:
    """A category's part of a role's CPU time.

    ``share`` is the share over all rounds. ``low`` and ``high`` are the limits of Wilson's 95% interval, which assumes
    independent samples. ``rounds`` contains the share in each round. ``us_per_request`` is the category's CPU time per
    request in microseconds.
    """

    category: Category
    share: float
    low: float
    high: float
    rounds: tuple[float, ...]
    us_per_request: float


@dataclasses.dataclass(frozen=True)
class Role:
    """The total CPU time of the processes that share a role. ``cpu_us_per_request`` is measured without sampling."""

    role: str
    names: tuple[str, ...]
    samples: int
    expected: float
    cpu_us_per_request: float
    shares: tuple[Share, ...]


def by_role(rounds: Sequence[Sequence[Sampled]], us_per_request: Mapping[str, float]) -> list[Role]:
    """Return the shares of each role, starting with the role that used the most CPU time.

    ``us_per_request`` contains each role's CPU time per request without sampling.
    """
    roles = list(dict.fromkeys(process.role for processes in rounds for process in processes))
    found = [
        _role(role, [[one for one in processes if one.role == role] for processes in rounds], us_per_request[role])
        for role in roles
    ]
    return sorted(found, key=lambda one: -one.cpu_us_per_request)


def _role(role: str, rounds: Sequence[Sequence[Sampled]], us_per_request: float) -> Role:
    busy = all(one.busy for processes in rounds for one in processes if one.stacks)
    counts = [_counts(processes, busy) for processes in rounds]
    pooled = sum(counts, Counter[Category]())
    total = sum(pooled.values())
    shares = []
    for kind in Category:
        if not pooled[kind]:
            continue
        share = pooled[kind] / total
        low, high = wilson(pooled[kind], total)
        shares.append(
            Share(
                category=kind,
                share=share,
                low=low,
                high=high,
                rounds=tuple(one[kind] / sum(one.values()) for one in counts if sum(one.values())),
                us_per_request=share * us_per_request,
            )
        )
    everyone = [one for processes in rounds for one in processes]
    return Role(
        role=role,
        names=tuple(dict.fromkeys(one.name for one in everyone)),
        samples=sum(sum(one.stacks.values()) for one in everyone if one.stacks is not None),
        expected=sum(one.cpu_s / one.interval_s for one in everyone),
        cpu_us_per_request=us_per_request,
        shares=tuple(shares),
    )


def _counts(processes: Iterable[Sampled], busy: bool) -> Counter[Category]:
    """Return the number of samples in each category.

    If there are fewer samples than the CPU time suggests, the missing samples count as NATIVE, because the running
    thread had no Python stack. This isn't true for a process that was often idle, because the kernel's tick, which
    drives the timer, misses sleeping threads.
    """
    counts: Counter[Category] = Counter()
    for process in processes:
        for stack, number in (process.stacks or Counter()).items():
            counts[category(stack)] += number
        sampled = sum(process.stacks.values()) if process.stacks is not None else 0
        if busy or process.stacks is None:
            counts[Category.NATIVE] += max(0, round(process.cpu_s / process.interval_s) - sampled)
    return counts


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """Return Wilson's 95% interval for a proportion, or (0, 1) without samples."""
    if not trials:
        return 0.0, 1.0
    from scipy.stats import binomtest  # slow to import

    interval = binomtest(hits, trials).proportion_ci(0.95, "wilson")
    return float(interval.low), float(interval.high)
