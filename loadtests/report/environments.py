"""Name the differences between the environments of a run's setups."""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.formatting import series
from loadtests.records.run.run_record import EnvironmentRecord, RunRecord

MOST_PACKAGES = 8


def sentences(record: RunRecord) -> Iterator[str]:
    """Yield a sentence about each environment other than that of the setups without variants."""
    for environment in record.environments:
        differing = list(_differences(record, environment))
        shown = differing[:MOST_PACKAGES]
        if more := len(differing) - len(shown):
            shown.append(f"{more} more, which run.json lists")
        text = series(shown) if shown else "the same versions as without it"
        yield f"With {' and '.join(environment.variant)}: {text}."


def _differences(record: RunRecord, environment: EnvironmentRecord) -> Iterator[str]:
    own = record.application
    python = own.python if own else str(record.versions.get("python", "")).rpartition(" ")[2]
    packages = own.packages if own else record.versions.get("packages", {})
    if environment.python != python:
        yield f"Python {environment.python} (not {python})"
    # The environment of the sample project also has the packages of the benchmark.
    names = {*environment.packages, *(packages if own else ())}
    for name in sorted(names, key=str.lower):
        here, there = environment.packages.get(name), packages.get(name)
        if here != there:
            yield f"{name} {here or 'missing'} ({f'not {there}' if there else 'new'})"
