"""``list``: what there is: setups, studies, engines, runs."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from loadtests.commands.console import out, say_json
from loadtests.commands.options import AsJson
from loadtests.errors import UserError

Listing = dict[str, list[dict[str, Any]]]


def command(as_json: AsJson = False) -> None:
    """List the setups, the studies, the engines and the runs."""
    listing = everything()
    say_json(listing) if as_json else _print(listing)


def everything() -> Listing:
    """All there is, by kind, as rows with the same keys within a kind."""
    from loadtests import engines, setups, store
    from loadtests.plan import study as studies

    return {
        "setups": [
            {"name": setup.name, "interface": setup.interface, "label": setup.label}
            for setup in setups.known().values()
        ],
        "studies": [_study(name) for name in studies.names()],
        "engines": [{"name": name} for name in engines.known()],
        "runs": [_run(folder.name) for folder in store.runs()],
    }


def _study(name: str) -> dict[str, Any]:
    from loadtests.plan import study as studies

    study = studies.load(name)
    return {"name": name, "title": study.title, "minutes": round(studies.planned_seconds(study) / 60)}


def _run(name: str) -> dict[str, Any]:
    from loadtests import paths
    from loadtests.store import Run

    try:
        record = Run.open(paths.RESULTS / name).record
    except UserError as error:
        return {"name": name, "created": "", "study": "", "state": f"cannot be read: {error}"}
    state = "ended" if record.ended else "can be resumed"
    return {"name": name, "created": record.created, "study": record.study.name, "state": state}


def _print(listing: Listing) -> None:
    """A table a kind."""
    for kind, rows in listing.items():
        table = Table(title=kind, title_justify="left", box=None, pad_edge=False)
        for column in rows[0] if rows else ():
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(str(value) for value in row.values()))
        out.print(table)
        out.print("" if rows else "none yet\n")
