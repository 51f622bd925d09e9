"""Run the tests of the installed Django version with and without ``hopless``, and compare the failures.

``python packages/hopless/suites/django_suite.py [--django 6] [--mutants] [APP...]`` runs the tests in Django's sdist
with asynchronous middleware. Some tests fail, because they check synchronous details. The same tests must fail in both
runs.

With ``--mutants``, the program changes one predicate at a time to claim that its hook never blocks. The program then
repeats the tests of the app that tests the hook's middleware, and prints the additional failures.
``tests/test_predicates.py`` covers predicates whose hooks are only slow, because Django's tests can't detect errors in
these predicates.

With ``--django 6``, the program runs the tests of this package and then Django's tests with the newest Django 6, in a
separate environment with a suitable Python.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import django
from environments import this_python
from hopless.middleware import KNOWN, never

PACKAGE = Path(__file__).parents[1]
PYTHONS = {"6": ("3.14", "3.13", "3.12")}  # Python versions that support a series of Django, preferred first
TOOLS = ("pytest==9.1.1", "pytest-timeout==2.4.0")
RUN = Path(__file__).with_name("run_tests.py")
# The apps in Django's tests that depend on middleware, handlers or the test client.
APPS = [
    *("asgi", "async", "auth_tests", "cache", "conditional_processing", "contenttypes_tests", "csrf_tests"),
    *("decorators", "flatpages_tests", "handlers", "i18n", "logging_tests", "messages_tests", "middleware"),
    *("middleware_exceptions", "redirects_tests", "requests_tests", "responses", "sessions_tests", "sites_tests"),
    *("staticfiles_tests", "template_tests", "test_client", "test_client_regress", "view_tests"),
]
# The app that tests each middleware, by the third part of the middleware's path.
APP_OF = {
    **{name: f"{name}_tests" for name in ("auth", "csrf", "flatpages", "messages", "redirects")},
    **dict.fromkeys(("common", "gzip", "http"), "middleware"),
    "locale": "i18n",
    "sessions": "test_client",
}
FAILED = re.compile(r"^(?:FAIL|ERROR): (\S+ \(\S+\))", re.MULTILINE)
RAN = re.compile(r"^Ran (\d+) tests", re.MULTILINE)


def sdist(folder: Path) -> Path:
    """Download the sdist of the installed Django version, and return its folder ``tests``."""
    version = django.__version__
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*command, "--dest", folder, f"Django=={version}"], check=True)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as found:
        found.extractall(folder, filter="data")
    return next(folder.glob("*/tests"))


def run(
    folder: Path, way: str, arguments: list[str], python: str | Path = sys.executable, program: str = "runtests.py"
) -> tuple[int, set[str]]:
    """Run the tests in a folder, and return the number of tests and the names of the failed tests.

    Raises:
        SystemExit: If the tests didn't run.
    """
    command = [python, "-W", "ignore", RUN, way, program, *arguments, "--parallel", "1", "--verbosity", "0"]
    printed = subprocess.run(command, cwd=folder, capture_output=True, text=True).stderr
    if (ran := RAN.search(printed)) is None:
        sys.exit(f"the tests didn't run ({way}): {printed[-2000:]}")
    return int(ran[1]), set(FAILED.findall(printed))


def python_for(series: str) -> str | None:
    """Return a Python interpreter for a series of Django, from PATH or pyenv, or None if there isn't any."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in PYTHONS[series]:
        for python in (shutil.which(f"python{version}"), *sorted(root.glob(f"{version}.*/bin/python"))):
            if python and not subprocess.run([python, "-c", "import venv"], capture_output=True).returncode:
                return str(python)
    return None


def python_or_exit(series: str) -> str:
    """Return a Python interpreter for Django 5.2 or 6.1. If there isn't any, exit with a message."""
    python = python_for("6") if series == "6.1" else this_python()
    if python is None:
        print("NOT TESTED: Django 6.1 requires Python 3.12 or newer on PATH or in pyenv. Install it and try again.")
        sys.exit()
    return python


def elsewhere(series: str, arguments: list[str]) -> int:
    """Run the tests of the package and this program with the newest Django of a series, in a separate environment."""
    if (python := python_for(series)) is None:
        pythons = ", ".join(f"Python {version}" for version in reversed(PYTHONS[series]))
        print(
            f"\n*** NOT TESTED: Django {series} requires one of {pythons}, on PATH or in pyenv.\n"
            f"*** This run doesn't test hopless on Django {series}.\n",
            file=sys.stderr,
        )
        return 0
    with tempfile.TemporaryDirectory(prefix="django-suite-") as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        own = Path(folder, "bin", "python")
        pip = [own, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, f"Django=={series}.*", f"{PACKAGE}[channels]", *TOOLS], check=True)
        tests = subprocess.run([own, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=PACKAGE, check=False)
        return subprocess.run([own, __file__, *arguments], check=False).returncode or tests.returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--django", metavar="SERIES", choices=PYTHONS, help="6: the newest, in a separate environment")
    parser.add_argument("--mutants", action="store_true", help="also test each predicate as if its hook never blocked")
    parser.add_argument("apps", nargs="*", help="apps in Django's tests (default: all that depend on middleware)")
    options = parser.parse_args()
    if options.django:
        sys.exit(elsewhere(options.django, [*(["--mutants"] if options.mutants else []), *options.apps]))
    apps = options.apps or APPS
    with tempfile.TemporaryDirectory(prefix="django-suite-") as folder:
        tests = sdist(Path(folder))
        number, stock = run(tests, "stock", apps)
        print(f"Django {django.__version__}: {number} tests, {len(stock)} fail with asynchronous middleware")
        number, ours = run(tests, "hopless", apps)
        print(f"with hopless: {number} tests, {len(ours - stock)} more fail, {len(stock - ours)} fewer")
        for name in sorted(ours ^ stock):
            print(f"  {'fails' if name in ours else 'passes'} with hopless: {name}")
        for path, hooks in KNOWN.items() if options.mutants else ():
            if (app := APP_OF.get(path.split(".")[2])) in apps:
                for hook in (name for name, blocks in hooks.items() if blocks is not never):
                    found = sorted(run(tests, f"{path}:{hook}", [app])[1] - stock)
                    print(f"if {path}:{hook} never blocks: {len(found)} more fail {found[:1] or ''}", flush=True)
    sys.exit(bool(ours ^ stock))


if __name__ == "__main__":
    main()
