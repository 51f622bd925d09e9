"""Write comment.md, a comment for Django's ticket #37177, from a run of the study ``hops``.

Usage: ``python comment.py RUN``, with the folder of the run.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

# The rows of the table: the labels of the study's setups, with their descriptions.
ROWS = {
    "asgi": "Django as it is, the seven middleware of `startproject`",
    "synchronous-middleware": "the seven middleware with `async_capable = False` (like #21523)",
    "hopless-middleware": "middleware that hops only if a hook can block",
    "hopless": "the same middleware, kept threads, and no thread if nothing blocks",
    "no-middleware": "Django as it is, no middleware",
    "wsgi": "Gunicorn's threads (WSGI)",
}
WARNING = "**Preliminary, from a run that isn't committed. Don't send this comment.**\n\n"
TEXT = """{warning}Here are measurements for this ticket and for #21523. The benchmark starts each variant again
in every block, interleaves the load and compares variants within blocks (study `hops`, {blocks} blocks).
{versions}.
The server has one core, the load generator another core and 10 connections, and the view answers `OK`. The table shows
requests/s and CPU time per request, each with its ratio to the first row:

| | sync view | | async view | |
| --- | --- | --- | --- | --- |
{rows}

- Under ASGI, middleware and its hops are most of the cost of such a request. Without middleware, the CPU time is
  {none} for the sync and the async view.
- With synchronous middleware that shares its hops (#21523), the CPU time is {shared}, without changes in projects.
- Most hooks of Django's own middleware can't block: a session that wasn't changed, CSRF, messages, the common
  middleware. In the event loop, these hooks don't need a hop. With a predicate for each hook, and otherwise unchanged
  Django classes, the CPU time is {twins}. With kept threads as well, and no thread if nothing blocks, it is {all}.
- A view that works longer saves the same milliseconds, so its ratio is smaller.

Each ratio is a ratio of medians. The run contains the intervals and all trials. The third and fourth rows use a package
that isn't part of Django. With and without this package, the same Django tests fail in the asynchronous chain.

Measured: {run}.
"""


def main(run: Path) -> None:
    about = json.loads((run / "run.json").read_text(encoding="utf-8"))
    with open(run / "summary.csv", encoding="utf-8", newline="") as file:
        found = {(row["label"], row["test"]): row for row in csv.DictReader(file)}
    if invalid := sorted({label for (label, _), row in found.items() if int(row["invalid"])}):
        sys.exit(f"{run} contains invalid trials of {', '.join(invalid)}. Use another run")

    def ratio(label: str, test: str, column: str) -> str:
        return f"x{float(found[label, test][column]) / float(found['asgi', test][column]):.2f}"

    def both(label: str) -> str:
        return " and ".join(ratio(label, test, "cpu_ms_per_request") for test in ("sync", "async"))

    rows = []
    for label, title in ROWS.items():
        cells = [title]
        for test in ("sync", "async"):
            rate, cpu = (float(found[label, test][column]) for column in ("rps", "cpu_ms_per_request"))
            cells += [
                f"{rate:,.0f}/s ({ratio(label, test, 'rps')})",
                f"{cpu:.2f} ms ({ratio(label, test, 'cpu_ms_per_request')})",
            ]
        rows.append(f"| {' | '.join(cells)} |")
    packages, machine = about["versions"]["packages"], about["machine"]
    versions = f"{about['versions']['python']}, Django {packages['Django']}, asgiref {packages['asgiref']}, "
    versions += f"uvicorn {packages['uvicorn']}; {machine['cpu']}, {machine['cores']} cores"
    committed = run.name.startswith("reference-")
    text = TEXT.format(
        warning="" if committed else WARNING,
        blocks=found["asgi", "sync"]["trials"],
        versions=versions,
        rows="\n".join(rows),
        none=both("no-middleware"),
        shared=both("synchronous-middleware"),
        twins=both("hopless-middleware"),
        all=both("hopless"),
        run=run.name if committed else "a run that isn't committed",
    )
    Path(__file__).with_name("comment.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
