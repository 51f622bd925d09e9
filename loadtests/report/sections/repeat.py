"""Show how to repeat a run exactly: revision, command, seed and software."""

from __future__ import annotations

import shlex
from typing import Any

from loadtests.analyse.results import Results
from loadtests.formatting import flat, plural
from loadtests.records.run.run_record import RunRecord
from loadtests.report import tables
from loadtests.report.view import Section, Table


def section(results: Results) -> Section:
    """Return the commands, the software, the packages and each setup's supervisor configuration."""
    record = results.record
    git, versions = record.git, record.versions
    dirty = " with uncommitted changes, so it cannot be repeated exactly" if git.dirty else ""
    revision = f"Revision {git.revision}{dirty}." if git.revision else "The revision is not known."
    checkout = [f"git checkout {git.revision}"] if git.revision else []
    stacks = ["make stack-2016"] if "stack_2016" in versions else []
    pythons = " ".join(name.removeprefix("stack_") for name in versions if name.startswith("stack_python"))
    software = flat({name: _counted(value) for name, value in versions.items()})
    packages = [
        (name.replace("_", " ").capitalize(), "\n".join(f"{package}=={version}" for package, version in value.items()))
        for name, value in versions.items()
        if isinstance(value, dict) and value
    ]
    return Section(
        "repeat",
        "How to repeat it exactly",
        (f"{revision} The order of trials comes from the seed {record.seed}.",),
        (Table("software", "Software", ("what", "version"), tables.pairs(software)),) if software else (),
        commands=(*checkout, f'make setup PYTHONS="{pythons}"' if pythons else "make setup", *stacks, command(record)),
        folded=(*packages, *_configurations(results)),
        only_on_pages=True,
    )


def command(record: RunRecord) -> str:
    seed = "" if "--seed" in record.command else f" --seed {record.seed}"
    knobs = "".join(f"{key}={shlex.quote(value)} " for key, value in record.knobs.items())
    return f"{knobs}{record.command}{seed}"


def _counted(value: Any) -> Any:
    return f"{plural(len(value), 'package')}, listed in report.html" if isinstance(value, dict) else value


def _configurations(results: Results) -> list[tuple[str, str]]:
    # The last file counts, which is the setup's own file, not the file of a deployed command.
    entries = reversed(results.study.entries)
    files = {f"conf.d/{entry.setup}.conf": results.setup(entry.label).config for entry in entries}
    files |= {f"services/{name}.conf": config for name, config in results.record.services.items()}
    return [(f"supervisor/{name}", config.strip()) for name, config in files.items() if config]
