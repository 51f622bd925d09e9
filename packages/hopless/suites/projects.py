"""Compare the results of other projects' tests with hopless and with stock Django.

``python packages/hopless/suites/projects.py [--django 5.2|6.1] [PROJECT...]`` runs the tests in each project's sdist in
a separate environment. The synchronous test client sends its requests through a complete ASGI handler
(``whole_handler.py``): first Django's handler, then hopless's handler. The program prints a line for each project, and
fails if the failed tests differ.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from django_suite import python_or_exit
from environments import CACHE, environment, made_once

RUN = Path(__file__).with_name("run_tests.py")
VERSIONS = Path(__file__).with_name("projects.txt")
PYTEST = ("pytest", "pytest-django")
PYTEST_COMMAND = ("pytest", "-p", "no:cacheprovider", "-o", "addopts=", "--tb=no", "-q", "-rfE")
TEST_COMMAND = ("django", "test", "--verbosity", "0")
ALLAUTH_PARTS = ("ajax", "change_email", "login", "login_by_code", "logout", "middleware", "reauthentication", "signup")
WAGTAIL_PARTS = (
    *(f"tests.{part}" for part in ("test_page_allowed_http_methods", "test_page_privacy", "test_views", "tests")),
    *(f"admin.tests.{part}" for part in ("pages.test_view_draft", "test_password_reset", "tests")),
    *("admin.tests.test_account_management.TestAuthentication", "contrib.routable_page", "documents.tests.test_views"),
)
FAILED = re.compile(r"^(?:FAIL|ERROR): (\S+ \(\S+\))|^(?:FAILED|ERROR) (\S+::\S+)", re.MULTILINE)
RAN = re.compile(r"^Ran (\d+) tests|(\d+) (?:passed|failed|errors?)\b", re.MULTILINE)
GUARDIAN_COMPARES_TIMES = "guardian/testapp/tests/test_indexes.py::IndexVsNoIndexPerformanceTestCase"
DRF_COUNTS_WARNINGS = "tests/schemas/test_openapi.py::TestGenerator::test_duplicate_component_name"


class Project(NamedTuple):
    """A project, and the command that runs its tests in the folder of the unpacked sdist.

    Attributes:
        requirement: The project's requirement in pip's format, with the version.
        needs: Other packages that the tests require.
        command: The program that runs the tests, and its arguments (see ``run_tests.py``).
        settings: The settings module of the tests.
    """

    requirement: str
    needs: tuple[str, ...]
    command: tuple[str, ...]
    settings: str

    @property
    def name(self) -> str:
        return re.split(r"[=\[]", self.requirement)[0]

    @property
    def version(self) -> str:
        return self.requirement.partition("==")[2]


PROJECTS = (
    Project(
        "django-allauth[mfa,openid,socialaccount]==65.22.1",
        (*PYTEST, "pytest-asyncio"),
        (*PYTEST_COMMAND, *(f"tests/apps/account/test_{part}.py" for part in ALLAUTH_PARTS)),
        "tests.projects.account_only.settings",
    ),
    Project("django-axes==8.3.1", (*PYTEST, "django-ipware"), (*PYTEST_COMMAND, "tests"), "tests.settings"),
    Project(
        "django-filter==26.2",
        ("djangorestframework", "markdown", "django-crispy-forms", "pytz"),
        (*TEST_COMMAND, "tests"),
        "tests.settings",
    ),
    Project(
        "django-guardian==3.5.2",
        (*PYTEST, "django-environ"),
        (*PYTEST_COMMAND, "--deselect", GUARDIAN_COMPARES_TIMES, "guardian/testapp/tests"),
        "guardian.testapp.testsettings",
    ),
    Project("django-simple-history==3.13.0", (), ("runtests.py",), ""),
    Project(
        "djangorestframework==3.18.3",
        (*PYTEST, "dj-database-url", "inflection", "markdown", "pyyaml", "requests", "uritemplate", "django-filter"),
        # The deselected test counts all warnings. If a view raises an error, stock Django doesn't close the body's
        # file, and the garbage collector can warn about it during this test.
        (*PYTEST_COMMAND, "--no-migrations", "--deselect", DRF_COUNTS_WARNINGS, "tests"),
        "",
    ),
    Project(
        "wagtail==8.0.1",
        ("jinja2",),
        # Keep the database, because its migrations need more than a minute.
        (*TEST_COMMAND, "--keepdb", *(f"wagtail.{part}" for part in WAGTAIL_PARTS)),
        "wagtail.test.settings",
    ),
)


def sources(project: Project) -> Path:
    """Return the folder of a project's unpacked sdist. The sdist is downloaded if it isn't in the user's cache."""
    folder = CACHE / "sdists" / f"{project.name}-{project.version}"
    with made_once(folder):
        if folder.exists():
            return folder
        download = folder.with_suffix(".download")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", project.name]
        subprocess.run([*command, "--dest", download, f"{project.name}=={project.version}"], check=True)
        [archive] = download.glob("*.tar.gz")
        shutil.unpack_archive(archive, download, filter="data")
        [unpacked] = (found for found in download.iterdir() if found.is_dir())
        unpacked.rename(folder)
        shutil.rmtree(download)
    return folder


def run(project: Project, folder: Path, python: Path, way: str) -> tuple[int, set[str]]:
    """Run a project's tests, and return the number of tests and the names of the failed tests.

    Raises:
        SystemExit: If the tests didn't run.
    """
    database = str(python.with_name("wagtail.sqlite3"))
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": project.settings, "DATABASE_NAME": database}
    command = [python, "-W", "ignore", RUN, f"whole-{way}", *project.command]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    printed = done.stdout + done.stderr
    number = sum(int(number) for found in RAN.findall(printed) for number in found if number)
    if not number or "Interrupted: " in printed:  # pytest prints this if it can't import a module
        sys.exit(f"{project.name}: the tests didn't run ({way}): {printed[-2000:]}")
    return number, {first or second for first, second in FAILED.findall(printed)}


def compare(project: Project, django: str, python: str) -> bool:
    """Run a project's tests with stock Django and with hopless, and return whether the same tests fail."""
    packages = [f"Django=={django}.*", "asgiref>=3.13", project.requirement, *project.needs]
    own, folder = environment(python, packages, VERSIONS), sources(project)
    number, stock = run(project, folder, own, "stock")
    number_ours, ours = run(project, folder, own, "hopless")
    print(f"{project.name}: {number} tests, {len(stock)} fail with stock Django's ASGI handler; with hopless "
          f"{number_ours} tests, {len(ours - stock)} more fail, {len(stock - ours)} fewer", flush=True)  # fmt: skip
    for name in sorted(ours ^ stock):
        print(f"  {'fails' if name in ours else 'passes'} with hopless: {name}")
    return (number, stock) == (number_ours, ours)


def main() -> None:
    names = [project.name for project in PROJECTS]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--django", choices=("5.2", "6.1"), default="5.2", help="the series of Django (default: 5.2)")
    parser.add_argument("projects", nargs="*", choices=[*names, []], metavar="PROJECT", help=f"from {', '.join(names)}")
    options = parser.parse_args()
    python = python_or_exit(options.django)
    chosen = [project for project in PROJECTS if project.name in (options.projects or names)]
    same = [compare(project, options.django, python) for project in chosen]
    sys.exit(not all(same))


if __name__ == "__main__":
    main()
