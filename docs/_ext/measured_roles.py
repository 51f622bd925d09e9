"""Define roles for figures from the newest reference run of a study.

    :ratio:`STUDY LABEL TEST [METRIC] [against OTHER] [is VERDICT]`    ×0.35 (×0.30 to ×0.42)
    :measured:`STUDY LABEL TEST [METRIC]`                              1,905 requests/s (1,421 to 2,499)
    :failed:`STUDY LABEL TEST`                                         35.26%
    :lost:`STUDY LABEL TEST [against OTHER]`                           1.95%
    :lost-difference:`STUDY LABEL TEST against OTHER [is VERDICT]`     no significant difference (4 of 8 trials ...)
    :held:, :opened:, :left:, :refused:`STUDY LABEL TEST`              96
    :lost-requests:, :disturbed:, :downtime:`STUDY LABEL TEST`         7
    :share:`SETUP ROLE [at PATH]: CATEGORY`                            31% (28% to 34%)

METRIC is p50, p90, p95, p99, p99.9, rps, capacity, cpu, memory, or the name of a metric in summary.csv. Without METRIC,
the role uses the first metric that has verdicts in this kind of test. Ratios are relative to OTHER or, without OTHER,
to the study's baseline.

VERDICT is the claim of the surrounding sentence: faster, slower, cheaper, dearer, equivalent or inconclusive. A
difference within the noise floor is inconclusive. For lost deliveries, the verdict is significant or inconclusive. If
the newest run contradicts the claim, the build fails. A table of advice shows a share of lost deliveries only if it
differs significantly from the share of OTHER.

* held, opened (per 1,000 requests), left, refused: the numbers of connections to the database.
* lost-requests: the number of requests lost in a deployment, summed over all blocks.
* disturbed: the number of seconds that differ from the seconds before the replacement.
* downtime: a deployment's mean downtime over at least five trials, in milliseconds.
* share: the share of a profile's CATEGORY in the CPU time of a role.

Each figure links to the page with the results.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from statistics import fmean, stdev

from docutils import nodes
from lost_deliveries import loss_test
from reference_runs import REFERENCES, newest_profile
from sphinx.addnodes import pending_xref
from sphinx.util.docutils import SphinxRole

from loadtests.analyse.compare.within import Comparison, compare
from loadtests.analyse.results import Results
from loadtests.formatting import interval, number, ratio, ratio_interval
from loadtests.plan import held_connections
from loadtests.plan.cost_unit import CPU
from loadtests.plan.kinds import deployment, every_metric
from loadtests.plan.kinds import metric as metric_of
from loadtests.plan.kinds.requests import CAPACITY
from loadtests.plan.metrics import MEMORY_SETTLED, TIMES
from loadtests.plan.trial_count import TrialCount
from loadtests.records.trial import Trial
from loadtests.report import tables, verdict_text
from loadtests.trials.overload import failed_share, lost_share

SHORT = {metric.short: metric.name for metric in TIMES}
SHORT |= {"cpu": CPU.name, "capacity": CAPACITY.name, "memory": MEMORY_SETTLED.name}
MIN_DOWNTIMES = 5  # trials
OF_A_RUN = re.compile(
    r"(?P<study>\S+) (?P<label>\S+) (?P<test>\S+)(?: (?!against |is )(?P<metric>\S+))?"
    r"(?: against (?P<other>\S+))?(?: is (?P<verdict>\w+))?"
)
OF_A_PROFILE = re.compile(r"(?P<setup>\S+) (?P<role>[^\s:]+)(?: at (?P<path>[^\s:]+))?: (?P<category>.+)")


class Figure(SphinxRole):
    """Insert a figure that links to the page with its results."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            text, page = self.found(" ".join(self.text.split()))
        except LookupError as error:
            message = self.inliner.reporter.error(f"{self.rawtext}: {error.args[0]}", line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        target = {"refdomain": "std", "reftype": "doc", "reftarget": f"/results/{page}", "refexplicit": True}
        self.env.note_reread()
        return [pending_xref(self.rawtext, nodes.inline("", text), refdoc=self.env.docname, refwarn=True, **target)], []

    def found(self, request: str) -> tuple[str, str]:
        """Return the figure as text, and the name of the page below results/.

        Raises:
            LookupError: If the figure is unknown, or contradicts the claim.
        """
        raise NotImplementedError


class OfRun(Figure):
    """Insert a figure from the newest run of a study."""

    def found(self, request: str) -> tuple[str, str]:
        parts = matched(OF_A_RUN, request)
        results = REFERENCES.newest(parts["study"])
        tests = [test.name for test in results.tests]
        for what, name, names in (("label", parts["label"], results.labels), ("test", parts["test"], tests)):
            if name not in names:
                raise LookupError(f"the study has no {what} {name!r}. Its {what}s are {', '.join(names)}")
        name = parts["metric"] or results.test(parts["test"]).judged[0].name
        name = SHORT.get(name, name)
        known = [metric.name for metric in every_metric()]
        if name not in known:
            raise LookupError(f"there is no metric {name!r}. The metrics are {', '.join([*SHORT, *known])}")
        return self.figure(results, name, parts), parts["study"]

    def figure(self, results: Results, metric: str, request: re.Match[str]) -> str:
        """Return the figure as text.

        Raises:
            LookupError: If the run doesn't contain the figure, or contradicts the claim.
        """
        raise NotImplementedError


class RatioRole(OfRun):
    """Return the ratio of a setup to the baseline or another setup, with its interval. Check the claimed verdict."""

    def figure(self, results: Results, metric: str, request: re.Match[str]) -> str:
        found = compared(results, request["label"], request["test"], metric, request["other"])
        word = verdict_text.word(found)
        if found.inside_noise and word != "equivalent":
            word = "inconclusive"
        if request["verdict"] not in (None, word):
            raise LookupError(f"the newest run shows {word}, {ratio(found.ratio)}: rewrite the sentence")
        within = ratio_interval(found)
        return f"{ratio(found.ratio)} ({within})" if within else ratio(found.ratio)


class MeasuredRole(OfRun):
    """Return a setup's figure with its unit and interval."""

    def figure(self, results: Results, metric_name: str, request: re.Match[str]) -> str:
        found = results.estimate(request["label"], request["test"], metric_name)
        if found is None:
            raise LookupError(f"no valid trial contains {metric_name}")
        figure = f"{number(found.value)} {metric_of(metric_name).unit}".strip()
        within = interval(found)
        return f"{figure} ({within})" if within else figure


class LossRole(OfRun):
    """Return the share of failed requests or of lost deliveries, which ``share`` calculates from the trials."""

    def __init__(self, share: Callable[[Sequence[Trial]], float]) -> None:
        self._share = share

    def figure(self, results: Results, metric: str, request: re.Match[str]) -> str:
        trials = results.cells[request["label"], request["test"]].valid
        if not trials:
            raise LookupError("the setup has no valid trial")
        return f"{self._share(trials):.2%}"


class LostDifferenceRole(OfRun):
    """Return the verdict on the lost deliveries of two setups. Check the claimed verdict."""

    def figure(self, results: Results, metric: str, request: re.Match[str]) -> str:
        if not request["other"]:
            raise LookupError("the role needs another setup. Add 'against OTHER'")
        found = loss_test(results, request["label"], request["other"], request["test"])
        if request["verdict"] not in (None, word := "significant" if found.is_significant else "inconclusive"):
            raise LookupError(f"the newest run shows {word}, {found}: rewrite the sentence")
        return str(found)


class ColumnRole(OfRun):
    """Return a count over all valid trials, in the same format as in a report's table."""

    def __init__(self, counted: TrialCount) -> None:
        self._counted = counted

    def figure(self, results: Results, metric: str, request: re.Match[str]) -> str:
        value = self._counted.over(results.cells[request["label"], request["test"]].valid)
        if value is None:
            raise LookupError(f"no valid trial contains {self._counted.name!r}")
        return tables.in_words(value)


class ShareRole(Figure):
    """Return the share of a category in the CPU time of a role, from the setup's newest profile."""

    def found(self, request: str) -> tuple[str, str]:
        parts = matched(OF_A_PROFILE, request)
        folder, profile = newest_profile(parts["setup"], parts["path"])
        shares = {
            share["category"]: share
            for role in profile["roles"]
            if role["role"] == parts["role"]
            for share in role["shares"]
        }
        if parts["category"] not in shares:
            raise LookupError(f"{folder}: no category {parts['category']!r}. Categories: {', '.join(shares) or 'none'}")
        share = shares[parts["category"]]
        return f"{share['share']:.0%} ({share['low']:.0%} to {share['high']:.0%})", f"{folder}/index"


def matched(pattern: re.Pattern[str], request: str) -> re.Match[str]:
    """Match the whole text of a role with a pattern, and return the match.

    Raises:
        LookupError: If the text doesn't match.
    """
    found = pattern.fullmatch(request)
    if not found:
        raise LookupError("invalid syntax. docs/_ext/measured_roles.py describes the syntax")
    return found


def compared(results: Results, label: str, test: str, metric: str, other: str | None) -> Comparison:
    """Compare a setup with the baseline, as the report does.

    Use the report's comparison if it exists. Otherwise, calculate the interval for a single comparison.

    Raises:
        LookupError: If no block contains the metric for both setups.
    """
    known = results.comparisons.get((label, test, metric))
    other = other or results.baseline_of(label)
    found = known if known and known.baseline == other else None
    if found is None:
        own = [one for one in results.observations if (one.test, one.metric) == (test, metric)]
        standings, delta = results.standings, results.study.delta
        # Compare the observations of all setups, because the estimate of the noise uses them.
        every = compare(own, other, delta, standings=standings, candidates=[label])
        found = next((one for one in every if one.informative), None)
    if found is None:
        raise LookupError(f"no block of the run contains {metric} for both {label} and {other}")
    return found


class DowntimeRole(OfRun):
    """Return the mean downtime of a deployment, with Student's interval. At least five trials are necessary."""

    def figure(self, results: Results, metric: str, request: re.Match[str]) -> str:
        trials = results.cells[request["label"], request["test"]].valid
        known = [ms for trial in trials if (ms := deployment.downtime_ms(trial)) is not None]
        if len(known) < MIN_DOWNTIMES:
            raise LookupError(f"only {len(known)} trials contain the downtime, but {MIN_DOWNTIMES} are necessary")
        if not any(known):
            return f"0 ms in {len(known)} trials"
        from scipy import stats  # slow to import

        half = stats.t.ppf(0.975, len(known) - 1) * stdev(known) / len(known) ** 0.5
        return f"{number(fmean(known))} ms ({number(max(0.0, fmean(known) - half))} to {number(fmean(known) + half)})"


ROLES = {
    "ratio": RatioRole(),
    "measured": MeasuredRole(),
    "failed": LossRole(failed_share),
    "lost": LossRole(lost_share),
    "lost-difference": LostDifferenceRole(),
    "held": ColumnRole(held_connections.HELD),
    "opened": ColumnRole(held_connections.PER_1000),
    "left": ColumnRole(held_connections.BEHIND),
    "refused": ColumnRole(held_connections.TOO_MANY),
    "lost-requests": ColumnRole(deployment.LOST),
    "downtime": DowntimeRole(),
    "disturbed": ColumnRole(deployment.DISTURBED),
    "share": ShareRole(),
}
