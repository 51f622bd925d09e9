"""Show how well the ratios of other machines predict the ratios of a machine."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence
from math import exp, log

from from_results import FromResults
from reference_runs import REFERENCES
from sphinx.application import Sphinx

from loadtests.analyse.results import Results
from loadtests.formatting import ratio
from loadtests.plan.cost_unit import CPU

Logs = Mapping[tuple[str, str], float]  # logarithms of ratios, by label and test


def logs_of(results: Results, without: Sequence[str] = ()) -> Logs:
    """Return the logarithms of the setups' CPU time per request, relative to the baseline."""
    found = {(label, test): one for (label, test, metric), one in results.comparisons.items() if metric == CPU.name}
    return {key: log(one.ratio) for key, one in found.items() if one.blocks and key[0] not in without}


def left_out_errors(machines: Sequence[Logs]) -> list[float]:
    """Return the errors of all predicted ratios, as absolute logarithms, in ascending order.

    The prediction of a machine's ratio is the geometric mean of the other machines' ratios.
    """
    common = set.intersection(*(set(one) for one in machines))
    errors = []
    for place, key in itertools.product(range(len(machines)), common):
        others = [one[key] for other, one in enumerate(machines) if other != place]
        errors.append(abs(machines[place][key] - statistics.mean(others)))
    return sorted(errors)


class Transfer(FromResults):
    """Insert a table with a row for each named study, which shows the errors of its predicted ratios.

    The option ``without`` leaves out setups whose code changed between the runs.
    """

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {"without": str.split}  # noqa: RUF012 - docutils requires a class attribute

    def lines(self) -> Iterator[str]:
        yield from [".. list-table::", "   :header-rows: 1", ""]
        yield from [
            "   * - study",
            "     - machines",
            "     - ratios",
            "     - half of them within",
            "     - 95% within",
        ]
        for study in self.arguments[0].split():
            newest: dict[str, Results] = {}
            for run in REFERENCES.studies[study]:
                newest.setdefault(run.machine, run.results)
            errors = left_out_errors([logs_of(one, self.options.get("without", ())) for one in newest.values()])
            twentieths = statistics.quantiles(errors, n=20, method="inclusive")
            yield from [f"   * - :doc:`{study} </results/{study}>`", f"     - {', '.join(newest)}"]
            yield from [f"     - {len(errors)}", *(f"     - {ratio(exp(twentieths[place]))}" for place in (9, 18))]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("transfer", Transfer)
    return {"parallel_read_safe": True}
