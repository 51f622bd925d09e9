"""Apply the patches for other projects to pinned sdists, and run the tests.

Usage: ``python packages/upstream/try_patches.py``. Each patch's tests must fail without the patch and pass with it. The
project's tests must pass with the patch, if the sdist contains tests.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import tempfile
from pathlib import Path

UPSTREAM = Path(__file__).parent
sys.path.insert(0, str(UPSTREAM.parent / "channels-ipc" / "suites"))

from layer_suite import fetch  # noqa: E402  # this folder of scripts isn't a package

PYTEST_ASYNCIO = "pytest-asyncio==1.5.0"
SETTINGS = """
from django.conf import settings
settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}})
"""


@dataclasses.dataclass(frozen=True)
class Patch:
    """A patch for another project: its file in this folder, the sdist, and the file with the patch's tests.

    ``conftest`` is the source of a conftest.py that the tests need.
    """

    file: str
    requirement: str
    tests: str
    conftest: str = ""
    python: tuple[int, int] = (3, 10)  # the oldest suitable Python


PATCHES = (
    Patch("channels-open-connections/open-connections.patch", "channels==4.3.2", "test_old_connections.py", SETTINGS),
    Patch("asgiref-outliving-task/outliving-task.patch", "asgiref==3.13.0", "test_outliving_task.py", python=(3, 11)),
)


def run(tree: Path, extra: Path, *tests: str) -> tuple[bool, str]:
    """Run the tests with the package in ``tree``. Return whether they pass, and pytest's output."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (tree, extra)))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", *tests]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def apply(tree: Path, patch: Path) -> None:
    subprocess.run(["git", "apply", patch], cwd=tree, env={**os.environ, "GIT_DIR": os.devnull}, check=True)


def attempt(patch: Patch, folder: Path, extra: Path) -> None:
    """Run the tests with and without a patch.

    Raises:
        SystemExit: If a test has an unexpected result.
    """
    tree = fetch(folder, patch.requirement)
    own = sorted(path.name for path in (tree / "tests").glob("test_*.py"))
    source = {path: path.read_bytes() for path in tree.rglob("*.py")}
    apply(tree, UPSTREAM / patch.file)
    if patch.conftest:
        (tree / "tests" / "conftest.py").write_text(patch.conftest, encoding="utf-8")
    good, printed = run(tree, extra, "tests")
    if not good:
        sys.exit(f"{patch.file}: tests fail with the patch\n{printed}")
    passed = [line for line in printed.splitlines() if " passed" in line][-1]
    for path, text in source.items():
        path.write_bytes(text)
    if run(tree, extra, f"tests/{patch.tests}")[0]:
        sys.exit(f"{patch.file}: the patch's tests pass without the patch")
    count = f"{len(own)} test files of {patch.requirement}" if own else f"{patch.requirement} (no tests in the sdist)"
    print(f"{patch.file}: with {count} and the patch's tests: {passed}. The patch's tests fail without the patch.")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="upstream-") as name:
        extra = Path(name, "extra")
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--target", extra, PYTEST_ASYNCIO], check=True)
        for patch in PATCHES:
            if sys.version_info < patch.python:
                print(f"{patch.file}: not tested. {patch.requirement} needs Python {'.'.join(map(str, patch.python))}")
                continue
            folder = Path(name, patch.tests)
            folder.mkdir()
            attempt(patch, folder, extra)


if __name__ == "__main__":
    main()
