"""Complete the names of studies, setups and runs in a shell.

Each press of the Tab key starts the program again, so these functions list file names but don't read files.
"""

from __future__ import annotations

from collections.abc import Iterable

from loadtests import files


def studies(incomplete: str) -> list[str]:
    """Return the names of included studies. For other arguments, the shell completes file names."""
    return _beginning(incomplete, (file.stem for file in files.STUDIES.glob("*.toml")))


def setups(incomplete: str) -> list[str]:
    """Return the names of setups that start with ``incomplete``."""
    return _beginning(incomplete, (file.stem for file in (files.SUPERVISOR / "conf.d").glob("*.conf")))


def setups_and_studies(incomplete: str) -> list[str]:
    """Return the names of setups and included studies."""
    return [*setups(incomplete), *studies(incomplete)]


def setup_list(incomplete: str) -> list[str]:
    """Complete the last name in a list of setups, such as ``gunicorn,uv``."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in setups(last) if name not in before.split(",")]


def runs(incomplete: str) -> list[str]:
    """Return the names of runs in results/."""
    return _beginning(incomplete, (file.parent.name for file in files.RESULTS.glob("*/run.json")))


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))
