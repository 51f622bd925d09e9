"""Describe how the environments of variants differ from the environment of the other setups."""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.formatting import series
from loadtests.records.run.run_record import EnvironmentRecord, RunRecord
from loadtests.setups.variants import is_deployed

MOST_PACKAGES = 8


def sentences(record: RunRecord) -> Iterator[str]:
    """Yield a sentence about each variant: how its Python and packages differ from the other setups' environment."""
    for environment in record.environments:
        differing = list(_differences(record, environment))
        shown = differing[:MOST_PACKAGES]
        if more := len(differing) - len(shown):
            shown.append(f"{more} more, listed in run.json")
        text = series(shown) if shown else "the same versions as without the variant"
        yield f"With {' and '.join(environment.variant)}: {text}."


def _differences(record: RunRecord, environment: EnvironmentRecord) -> Iterator[str]:
    own = record.application
    python = own.python if own else str(record.versions.get("python", "")).rpartition(" ")[2]
    packages = own.packages if own else record.versions.get("packages", {})
    if environment.python != python:
        yield f"Python {environment.python} (not {python})"
    # Don't list packages that a variant doesn't need: the benchmark's own packages in the sample project's environment,
    # or the packages of other servers.
    needs_all = own and not is_deployed(environment.variant)
    names = {*environment.packages, *(packages if needs_all else ())}
    for name in sorted(names, key=str.lower):
        here, there = environment.packages.get(name), packages.get(name)
        if here != there:
            yield f"{name} {here or 'missing'} ({f'not {there}' if there else 'new'})"
