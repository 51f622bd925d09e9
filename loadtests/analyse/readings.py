"""What is read off trials: the value of every metric, failures, and the generator's own part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loadtests.analyse.observations import Observation
from loadtests.plan.kinds import every_metric
from loadtests.plan.lateness import late_share, too_late
from loadtests.plan.metrics import CPU, Metric, of_role
from loadtests.plan.percentiles import knowable
from loadtests.records import Trial
from loadtests.records.result import PERCENTILES

ROLES = ("web", "worker", "redis")  # the order they are shown in; other roles follow


def every(roles: Iterable[str], uncharged: Iterable[str] = ()) -> tuple[Metric, ...]:
    """All metrics, in the order of summary.csv: a role's CPU time follows that of all, those not charged come last."""
    found: list[Metric] = []
    for metric in every_metric():
        found.append(metric)
        if metric is CPU:
            found += [*map(of_role, roles), *(of_role(role, charged=False) for role in uncharged)]
    return tuple(found)


def observations(trial: Trial) -> Iterator[Observation]:
    """All that a valid trial knows; what it cannot know is left out."""
    for metric in every(roles([trial]), roles([trial], charged=False)):
        value = metric.read(trial)
        if value is not None:
            yield Observation(trial.label, trial.test, trial.block, metric.name, float(value))


def roles(trials: Iterable[Trial], charged: bool = True) -> list[str]:
    """The roles of the processes that the setups pay for, or of those beside them, in the order they are shown."""
    seen = {process.role for trial in trials for process in trial.processes if process.charged == charged}
    return [role for role in ROLES if role in seen] + sorted(seen - set(ROLES))


def generator(trial: Trial) -> tuple[float | None, float | None]:
    """The generator's own part in a trial: p99 of its lateness in ms, and the CPU of its busiest process, 1 a core."""
    if trial.result is None:
        return None, None
    shares = [process.cpu_s / process.wall_s for process in trial.result.generator if process.wall_s]
    return trial.result.pacing_lag_ms.get("p99"), max(shares, default=None)


def too_few(trials: Iterable[Trial], metric: Metric) -> bool:
    """Whether a metric is a percentile for which all of these trials answered too few requests, one at least."""
    percent = PERCENTILES.get(metric.name.removesuffix("_ms"))
    completed = [trial.result.completed for trial in trials if trial.result]
    return percent is not None and bool(completed) and not any(knowable(percent, count) for count in completed)


def why_late(trial: Trial, metric: Metric) -> str:
    """That the generator's lateness hides a percentile of a trial, with its part in it; empty where it does not."""
    key = metric.name.removesuffix("_ms")
    if trial.result is None or key not in PERCENTILES or not too_late(trial.result, key):
        return ""
    return f"the generator was late ({late_share(trial.result, key):.0%} of {key})"


def requests_by_process(trial: Trial, role: str) -> list[int]:
    """How many requests each process of a role handled, those that handled none included, where they count them."""
    return [process.requests for process in trial.charged if process.role == role and process.requests is not None]
