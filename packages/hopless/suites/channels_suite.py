"""Run the tests of Channels with and without ``hopless.consumers``, and compare the results.

``python packages/hopless/suites/channels_suite.py CHECKOUT`` runs the tests in a checkout of Channels, because the
sdist contains no tests. The tests run in a separate environment. Tests that need a browser are omitted. The program
fails if the outcome of a test differs, or if no consumer called the function of ``hopless.consumers``.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

SUITES = Path(__file__).parent
NEEDED = ("async-timeout==5.0.1", "daphne==4.2.3", "pytest==9.1.1", "pytest-asyncio==1.5.0", "pytest-django==4.12.0")
WITH_A_BROWSER = "tests/sample_project"
OUTCOME = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (.+?)(?: - .*)?$", re.MULTILINE)
ASKED = re.compile(r"^hopless: consumers called it (\d+) times, and changed threads (\d+) times$", re.MULTILINE)


def run(python: Path, checkout: Path, *more: str) -> tuple[set[tuple[str, ...]], str]:
    """Run the tests, and return the outcome of each test and the output.

    Raises:
        SystemExit: If no test ran.
    """
    environment = {**os.environ, "PYTHONPATH": str(SUITES), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", f"--ignore={WITH_A_BROWSER}"]
    done = subprocess.run([*command, *more, "tests"], cwd=checkout, env=environment, capture_output=True, text=True)
    if not (outcomes := set(OUTCOME.findall(done.stdout))):
        sys.exit(done.stdout + done.stderr)
    return outcomes, done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path, metavar="CHECKOUT", help="the folder of a checkout of Channels")
    checkout = parser.parse_args().checkout.resolve()
    if not (checkout / "tests" / "test_database.py").is_file():
        sys.exit(f"{checkout} is not a checkout of Channels: tests/test_database.py is missing")
    with tempfile.TemporaryDirectory(prefix="channels-suite-") as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, checkout, SUITES.parent, *NEEDED], check=True)
        stock, _ = run(python, checkout)
        ours, printed = run(python, checkout, "-p", "installed_consumers")
    for what, outcomes in (("Channels", stock), ("with hopless.consumers", ours)):
        passed = sum(outcome == "PASSED" for outcome, _ in outcomes)
        print(f"{what}: {passed} tests pass, {len(outcomes) - passed} don't pass")
    for outcome, name in sorted(ours - stock):
        print(f"  with hopless.consumers {outcome}: {name}")
    asked = ASKED.search(printed)
    print(asked[0] if asked else "hopless.consumers was not installed")
    sys.exit(ours != stock or asked is None or asked[1] == "0")


if __name__ == "__main__":
    main()
