"""Compare hopless with stock Django in combination with other packages that are used in production.

``python packages/hopless/suites/neighbours.py [--django 5.2|6.1] [CASE...]`` tests monitoring agents (``agents.py``)
and packages that store state (``state.py``). Each case runs the scenario in ``neighbours_scenario.py`` with Django's
ASGI application and with hopless, in a separate environment. Requests are sent one by one, by 20 users at the same
time, and by clients that disconnect. All recordings must be equal: transactions, spans, users, tags, answers, and the
state that requests see. The program prints a line for each case, and fails if the recordings of a case differ.

Cases with PostgreSQL are skipped if its programs aren't installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import agents
import state
from django_suite import python_or_exit
from environments import environment

SUITES = Path(__file__).parent
CASES = agents.CASES | state.CASES
LONGEST_SCENARIO_S = 300
# Allowed differences: spans are named after hopless's classes instead of Django's, and hopless opens fewer connections.
CLASSES = re.compile(
    r"\b(?:django|hopless)\.[\w.]*[.:](?=\w+Middleware)|django\.core\.handlers\.asgi:ASGI|hopless\.handler:"
)
OPENS_CONNECTION = re.compile(r"\bconnect\b|PRAGMA|SQLite/other|^SELECT FROM$")


def run(python: Path, name: str, way: str, database: str) -> Counter[str]:
    """Run the scenario of a case, and return its recordings as JSON, with the number of equal recordings.

    Raises:
        SystemExit: If the scenario fails.
    """
    command = [python, "-W", "ignore", SUITES / "neighbours_scenario.py", way, database]
    env = {**os.environ, "HOPLESS_CASE": name, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=LONGEST_SCENARIO_S)
    if done.returncode:
        sys.exit(f"{name}: the scenario failed ({way}): {done.stderr[-3000:]}")
    found: dict[str, list[Any]] = json.loads(done.stdout.splitlines()[-1])
    return Counter(
        [f"request: {json.dumps(seen)}" for seen in found["requests"]]
        + [f"recording: {json.dumps(comparable(recording))}" for recording in found["found"]]
    )


def comparable(value: Any) -> Any:
    """Return a recording, or a part of it, without the allowed differences and without the order of its items."""
    if isinstance(value, str):
        return CLASSES.sub("", value)
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, list):
        kept = [item for item in value if not (isinstance(item, str) and OPENS_CONNECTION.search(item))]
        return sorted(map(comparable, kept), key=json.dumps)
    return value


def compare(django: str, python: str, name: str, server: str | None) -> bool:
    """Run the scenario of a case with and without hopless, and return whether all recordings are equal."""
    own = environment(python, [f"Django=={django}.*", "asgiref>=3.13", *CASES[name].requires])
    with tempfile.TemporaryDirectory(prefix="neighbours-") as folder:
        recordings = []
        for way in ("stock", "hopless"):
            if server is None:
                recordings.append(run(own, name, way, f"{folder}/{way}"))
            else:
                with postgresql(server) as socket_folder:
                    recordings.append(run(own, name, way, socket_folder))
    stock, ours = recordings
    lost, added = stock - ours, ours - stock
    print(f"{name}: {stock.total()} recordings, {lost.total()} missing and {added.total()} additional with hopless")
    for what, difference in (("missing", lost), ("added", added)):
        if difference:
            print(f"  {what}: {min(difference)[:700]}")
    sys.stdout.flush()
    return not lost and not added


def postgresql_programs() -> str | None:
    """Return the folder of PostgreSQL's server programs, or None if they aren't installed."""
    for folder in (*sorted(Path("/usr/lib/postgresql").glob("*/bin")), *map(Path, os.get_exec_path())):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return str(folder)
    return None


@contextmanager
def postgresql(programs: str) -> Iterator[str]:
    """Run a new PostgreSQL server on a Unix socket, and yield the folder of the socket."""
    user = "postgres" if os.geteuid() == 0 else None  # PostgreSQL refuses to run as root
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        if user:
            shutil.chown(folder, user)
        options = ["--pgdata", f"{folder}/data", "--username", "postgres", "--auth", "trust", "--no-sync"]
        subprocess.run([f"{programs}/initdb", *options], user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        given = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off -c max_connections=500"
        control = [f"{programs}/pg_ctl", "--pgdata", f"{folder}/data", "--silent", "--wait"]
        log = ["--log", f"{folder}/log", "-o", given]
        subprocess.run([*control, *log, "start"], user=user, cwd=folder, check=True)
        try:
            yield folder
        finally:
            subprocess.run([*control, "--mode", "immediate", "stop"], user=user, cwd=folder, check=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--django", choices=("5.2", "6.1"), default="5.2", help="the series of Django (default: 5.2)")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"default: all of {', '.join(CASES)}")
    options = parser.parse_args()
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"unknown case: {', '.join(sorted(unknown))}. Choose from {', '.join(CASES)}")
    python = python_or_exit(options.django)
    server = postgresql_programs()
    names = [name for name in options.cases or CASES if server or not CASES[name].postgresql]
    for name in set(options.cases or CASES) - set(names):
        print(f"{name}: SKIPPED, because PostgreSQL isn't installed. Install it, for example with apt.")
    with ThreadPoolExecutor(2) as pool:
        tasks = [
            pool.submit(compare, options.django, python, name, server if CASES[name].postgresql else None)
            for name in names
        ]
        different = [name for name, task in zip(names, tasks, strict=True) if not task.result()]
    print(f"Django {options.django}: {len(names) - len(different)} of {len(names)} cases are equal with hopless")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
