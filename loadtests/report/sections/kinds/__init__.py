"""The section of each kind of test: made of the kind's own words and columns (``loadtests.plan.kinds``).

A kind whose section has more than its figures says what in a module here that bears the kind's name.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterator

from loadtests.analyse.results import Results
from loadtests.plan.kinds import Test, known, metric
from loadtests.report import points, tables
from loadtests.report.sections.additions import NOTHING, Additions
from loadtests.report.sections.deliveries import deliveries
from loadtests.report.view import Section, Table


def sections(results: Results) -> Iterator[Section]:
    """A section for each kind of test in the run, in the order of the kinds' places."""
    for kind in known().values():
        tests = [test for test in results.tests if type(test) is kind]
        if tests:
            yield _section(results, kind, tests)


def _section(results: Results, kind: type[Test], tests: list[Test]) -> Section:
    more = _additions(kind.kind.replace("-", "_"), tuple(__path__))
    further = [table for test in tests for table in (*deliveries(results, test), *more.tables(results, test))]
    return Section(
        kind.kind,
        kind.heading,
        (kind.about,),
        (*(_figures(results, test, more) for test in tests), *further),
        tuple(chart for test in tests for chart in more.charts(results, test)),
    )


def _figures(results: Results, test: Test, more: Additions) -> Table:
    return tables.measured(
        results,
        test,
        f"{test.kind}-{test.name}",
        test.caption.format(
            latency=results.latency(test.name).capitalize(), what=test.description + points.by_engine(results, test)
        ),
        {metric(name): heading for name, heading in test.columns.items()},
        more.columns,
        test.optional,
        more.note,
    )


@functools.cache
def _additions(kind: str, folders: tuple[str, ...]) -> Additions:
    if all(module.name != kind for module in pkgutil.iter_modules(folders)):
        return NOTHING
    additions: Additions = importlib.import_module(f"{__name__}.{kind}").ADDITIONS
    return additions
