"""From samples to shares. Pure."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from loadtests.profile.classify import Category, category
from loadtests.profile.stacks import Stacks

Z95 = 1.959964


@dataclasses.dataclass(frozen=True)
class Sampled:
    """One process in one round.

    ``cpu_s`` is what the kernel counted while it was sampled, for ``seconds``; ``stacks`` are the samples of its CPU
    time, one every ``interval_s`` of it, None where it is not Python's. ``busy``: it was hardly ever idle for want of
    requests. ``threads`` are all of its threads as py-spy saw them in ``looks`` looks, 0 where it saw none.
    """

    role: str
    name: str
    cpu_s: float
    seconds: float
    interval_s: float
    stacks: Stacks | None
    busy: bool = True
    threads: Stacks = dataclasses.field(default_factory=Counter)
    looks: int = 0


@dataclasses.dataclass(frozen=True)
class Share:
    """A category's part of a role's CPU time.

    ``share`` is over all rounds, ``low`` to ``high`` its 95% interval (Wilson's, as if samples were independent), and
    ``rounds`` the share of each round by itself. ``us_per_request`` is CPU time. ``waiting`` is how many threads of the
    role, on average, were in it without using the CPU; None where that is not known.
    """

    category: Category
    share: float
    low: float
    high: float
    rounds: tuple[float, ...]
    us_per_request: float
    waiting: float | None


@dataclasses.dataclass(frozen=True)
class Role:
    """What a role's processes did. ``cpu_us_per_request`` is measured without sampling, over all of them."""

    role: str
    names: tuple[str, ...]
    samples: int
    expected: float
    cpu_us_per_request: float
    shares: tuple[Share, ...]


def by_role(rounds: Sequence[Sequence[Sampled]], us_per_request: Mapping[str, float]) -> list[Role]:
    """The shares of every role, roles with the most CPU time first. ``us_per_request`` is by role."""
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
    waiting = _waiting(rounds)
    shares = []
    for kind in Category:
        if not pooled[kind] and not waiting.get(kind, 0.0) >= 0.005:
            continue
        share = pooled[kind] / total if total else 0.0
        low, high = wilson(pooled[kind], total)
        shares.append(
            Share(
                category=kind,
                share=share,
                low=low,
                high=high,
                rounds=tuple(one[kind] / sum(one.values()) for one in counts if sum(one.values())),
                us_per_request=share * us_per_request,
                waiting=waiting.get(kind, 0.0) if waiting else None,
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
    """Samples by category; those that the kernel's CPU time makes one expect and that are missing are NATIVE.

    A sample is missing where the thread on the CPU has no stack of Python's. It may also be missing because the
    kernel's tick, which drives the timer, came while the process slept: what is missing where a process was often
    idle in any round says nothing.
    """
    counts: Counter[Category] = Counter()
    for process in processes:
        for stack, number in (process.stacks or Counter()).items():
            counts[category(stack)] += number
        sampled = sum(process.stacks.values()) if process.stacks is not None else 0
        if busy or process.stacks is None:
            counts[Category.NATIVE] += max(0, round(process.cpu_s / process.interval_s) - sampled)
    return counts


def _waiting(rounds: Sequence[Sequence[Sampled]]) -> dict[Category, float]:
    """Threads in each category that were not on the CPU, on average; empty where nobody looked."""
    looked = [[one for one in processes if one.looks] for processes in rounds]
    looked = [processes for processes in looked if processes]
    threads: dict[Category, float] = defaultdict(float)
    for process in itertools.chain.from_iterable(looked):
        for stack, number in process.threads.items():
            threads[category(stack)] += number / process.looks / len(looked)
        for stack, number in (process.stacks or {}).items():
            threads[category(stack)] -= number * process.interval_s / process.seconds / len(looked)
    return {kind: max(0.0, number) for kind, number in threads.items()}


def wilson(hits: float, trials: float) -> tuple[float, float]:
    """Wilson's 95% interval of a proportion; (0, 1) of nothing."""
    if not trials:
        return 0.0, 1.0
    share = hits / trials
    spread = Z95 * math.sqrt(share * (1 - share) / trials + Z95**2 / (4 * trials**2))
    middle = share + Z95**2 / (2 * trials)
    scale = 1 + Z95**2 / trials
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)
