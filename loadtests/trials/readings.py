"""Read the values of all metrics from trials, and the delays and the CPU use of the load generator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from loadtests.plan import cost_unit
from loadtests.plan.kinds import Test, every_metric
from loadtests.plan.metrics import Metric
from loadtests.plan.times import LATE
from loadtests.records import Result, Trial
from loadtests.trials.observations import Observation

ROLES = ("web", "worker", "redis")  # the order of roles in reports; other roles follow


def every(roles: Iterable[str], uncharged: Iterable[str] = ()) -> tuple[Metric, ...]:
    """Return all metrics in the order of summary.csv. The CPU time of each role follows the total."""
    found: list[Metric] = []
    for metric in every_metric():
        found.append(metric)
        for one in cost_unit.EVERY:
            if metric is one.cpu:
                found += [*map(one.of_role, roles), *(one.of_role(role, charged=False) for role in uncharged)]
    return tuple(found)


def observations(trial: Trial, test: Test | None = None) -> Iterator[Observation]:
    """Yield an observation for each metric with a value in a valid trial. Leave out metrics that aren't in ``test``."""
    for metric in every(roles([trial]), roles([trial], charged=False)):
        value = metric.read(trial) if test is None or test.has_metric(metric) else None
        if value is not None:
            yield Observation(
                trial.label, trial.test, trial.block, metric.name, float(value), metric.is_lower_bound(trial)
            )


def roles(trials: Iterable[Trial], charged: bool = True) -> list[str]:
    """Return the roles of the charged or the uncharged processes, in the order of reports."""
    found = {process.role for trial in trials for process in trial.processes if process.charged == charged}
    return [role for role in ROLES if role in found] + sorted(found - set(ROLES))


def generator(trial: Trial) -> tuple[float | None, float | None, float | None]:
    """Return the load generator's delays and CPU use in a trial.

    The delays are the p99 of the scheduling delay and of the reading delay in ms. The CPU use is in cores.
    """
    result = trial.result
    if result is None:
        return None, None, None
    read = result.deliveries or result.streams
    reading = read.reading_lag_ms if read else None
    return result.pacing_lag_ms.get("p99"), reading.get("p99") if reading else None, generator_cpu(result)


def generator_cpu(result: Result) -> float | None:
    """Return the share of a core that the load generator used, on the machine with the highest share."""
    wall_s = max((process.wall_s for process in result.generator), default=0.0)
    cpu_s: defaultdict[str, float] = defaultdict(float)
    for process in result.generator:
        cpu_s[process.machine] += process.cpu_s
    return max(cpu_s.values()) / wall_s if wall_s else None


def too_few(trials: Iterable[Trial], metric: Metric) -> bool:
    """Return whether a metric is a percentile for which all ``trials`` contain too few requests or messages."""
    results = [trial.result for trial in trials if trial.result]
    times = metric.times
    return times is not None and bool(results) and all(times.too_few(result, metric.key) for result in results)


def delay_note(trial: Trial, metric: Metric) -> str:
    """Return the reason why a percentile isn't reported (generator delay or unfair service), or an empty string."""
    times, key, result = metric.times, metric.key, trial.result
    if result is None or times is None:
        return ""
    if (share := times.sending_share(result, key)) is not None and share > LATE:
        return f"generator delay is {share:.0%} of {key}"
    if times.is_unfair(result):
        return f"one connection received {result.answers_in_a_row:.1f} answers in a row"
    if (share := times.reading_share(result, key)) is not None and share > LATE:
        return f"reading delay is up to {share:.0%} of {key}"
    return ""


def requests_by_process(trial: Trial, role: str) -> list[int]:
    """Return the number of requests that each charged process of a role answered, if the requests were counted."""
    own = [process for process in trial.processes if process.charged and process.role == role]
    return [process.requests for process in own if process.requests is not None]
