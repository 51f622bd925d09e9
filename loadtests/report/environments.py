"""Describe how the environments of variants differ from the environment of the other setups."""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.formatting import series
from loadtests.records.run.run_record import EnvironmentRecord, RunRecord
from loadtests.setups.variants import parse_environment

MOST_PACKAGES = 8


def sentences(record: RunRecord) -> Iterator[str]:
    """Yield a sentence about each variant: how its Python and packages differ from the other setups' environment."""
    for environment in record.environments:
        differing = list(_differences(record, environment))
        if any(one.file for one in parse_environment(environment.variant)):
            # A deployed command doesn't need the packages of other servers.
            differing = [one for one in differing if not one.partition(" ")[2].startswith("missing")]
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
    # The sample project's environment also contains the benchmark's own packages, which a variant doesn't need.
    names = {*environment.packages, *(packages if own else ())}
    for name in sorted(names, key=str.lower):
        here, there = environment.packages.get(name), packages.get(name)
        if here != there:
            yield f"{name} {here or 'missing'} ({f'not {there}' if there else 'new'})"
