"""Test the installation of hopless in another project, by changing a line in the project's asgi.py.

``python packages/hopless/suites/own_project.py`` downloads the sdist of Django Debug Toolbar, which contains tests and
an example project with WhiteNoise between Django's middleware. The program builds ``hopless`` as a wheel and as an
sdist, and installs them one after another in a new environment. The program counts the hops and threads of requests
with the original line and, for both packages, with the changed line. The program also counts the hops and
threads for both lines with Sentry's SDK, which must record the same transactions. The project's tests must have the
same results with the middleware of ``hopless``.

With ``--speed``, this repository's benchmark also measures the project with and without the changed line, with ``python
-m loadtests run --app ... --variant ...`` and the remaining options: ``--speed --blocks 2``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import django
from django_suite import run

SUITES = Path(__file__).parent
PACKAGE = SUITES.parent
BENCHMARK = PACKAGE.parents[1]
FLIT = "flit_core==3.12.0"
PROJECT = "django-debug-toolbar==8.0.0"
NEEDED = ("django-csp==4.0", "django-template-partials==25.3", "html5lib==1.1", "jinja2==3.1.6", "pygments==2.21.0",
          "sentry-sdk==2.75.0", "whitenoise==6.12.0")  # fmt: skip
PATHS = ("/", "/async/")
STOCK = "from django.core.asgi import get_asgi_application\n"
OURS = "from hopless import get_asgi_application\n"
# Settings for deployment, because the example's settings are for development and enable the toolbar.
DEPLOYED = """
from example.async_.settings import *

DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1"]
MIDDLEWARE = [path for path in MIDDLEWARE if not path.startswith("debug_toolbar.")]
"""
# The SDK sends no transactions, because the hook drops them and writes their names to a file.
WITH_SENTRY = """
import sentry_sdk
from sentry_sdk.integrations.django import DjangoIntegration

from deployed import *

sentry_sdk.init("http://key@127.0.0.1:9/1", traces_sample_rate=1, integrations=[DjangoIntegration(signals_spans=False)],
                before_send_transaction=lambda event, _: print(event["transaction"], file=open("transactions", "a")))
"""


def built(folder: Path) -> tuple[Path, Path]:
    """Build the wheel and the sdist of this package, and return their paths."""
    pip(Path(sys.executable), "--target", folder / "flit", FLIT)
    code = f"from flit_core import buildapi as b; b.build_wheel({str(folder)!r}); b.build_sdist({str(folder)!r})"
    env = {**os.environ, "PYTHONPATH": str(folder / "flit")}
    subprocess.run([sys.executable, "-c", code], cwd=PACKAGE, env=env, check=True)
    [wheel], [sdist] = folder.glob("hopless-*.whl"), folder.glob("hopless-*.tar.gz")
    return wheel, sdist


def pip(python: Path, *arguments: str | Path) -> None:
    command = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *arguments]
    subprocess.run(command, check=True)


def fetched(folder: Path) -> Path:
    """Download and unpack the project's sdist, add settings for deployment, and return its folder."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*command, "--dest", folder, PROJECT], check=True)
    [archive] = folder.glob("django_debug_toolbar-*.tar.gz")
    shutil.unpack_archive(archive, folder, filter="data")
    project = Path(str(archive).removesuffix(".tar.gz"))
    (project / "deployed.py").write_text(DEPLOYED, encoding="utf-8")
    (project / "with_sentry.py").write_text(WITH_SENTRY, encoding="utf-8")
    shutil.copy(project / "example" / "manage.py", project)  # the benchmark imports from manage.py's folder
    return project


def change(project: Path, old: str, new: str) -> None:
    """Replace a line in the project's asgi.py.

    Raises:
        SystemExit: If the file doesn't contain the line exactly once.
    """
    file = project / "example" / "asgi.py"
    text = file.read_text(encoding="utf-8")
    if text.count(old) != 1:
        sys.exit(f"{file} must contain the line {old.strip()!r} exactly once")
    file.write_text(text.replace(old, new), encoding="utf-8")


def hops(python: Path, project: Path, what: str, settings: str = "deployed") -> dict[str, Any]:
    """Return the hops and threads of a request to each path, and the names of Sentry's transactions."""
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": settings, "PYTHONPATH": str(project)}
    command = [python, SUITES / "count_hops.py", "example.asgi", *PATHS]
    printed = subprocess.run(command, cwd=project, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, Any] = json.loads(printed)
    shown = ", ".join(f"{path} {counts['hops']} hops and {counts['threads']} threads" for path, counts in found.items())
    print(f"{what}: {shown}")
    if (recorded := project / "transactions").exists():
        found["transactions"] = recorded.read_text(encoding="utf-8").splitlines()
        recorded.unlink()
    return found


def measure(python: Path, project: Path, arguments: list[str]) -> None:
    """Measure the project with and without the changed line on Uvicorn, with the benchmark.

    Raises:
        SystemExit: If the benchmark is missing or fails.
    """
    if not (BENCHMARK / "loadtests").is_dir():
        sys.exit("--speed only works in the repository of the benchmark")
    changed = project.with_name("changed")
    shutil.copytree(project, changed)
    change(changed, STOCK, OURS)
    command = [sys.executable, "-m", "loadtests", "run", "--app", project, "--variant", changed]
    given = ["--settings", "deployed", "--asgi", "example.asgi:application", "--python", python, "--setups", "uvicorn"]
    paths = [word for path in PATHS for word in ("--path", path)]
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": ""}
    done = subprocess.run([*command, *given, *paths, *arguments], cwd=BENCHMARK, env=env, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--speed", action="store_true", help="also measure both versions, with options of `run`")
    options, further = parser.parse_known_args()
    if further and not options.speed:
        parser.error(f"{' '.join(further)}: only allowed with --speed")
    with tempfile.TemporaryDirectory(prefix="own-project-") as name:
        folder = Path(name)
        wheel, sdist = built(folder)
        venv.create(folder / "environment", with_pip=True)
        python = folder / "environment" / "bin" / "python"
        project = fetched(folder)
        pip(python, f"Django=={django.__version__}", project, *NEEDED)
        os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
        tests, failed = run(project, "stock", ["test", "tests"], python, "django")
        print(f"{PROJECT}: {tests} tests, {len(failed)} fail with asynchronous middleware")
        before = hops(python, project, "without hopless")
        sentry_before = hops(python, project, "without hopless, with Sentry", "with_sentry")
        pip(python, wheel)
        change(project, STOCK, OURS)
        ours = hops(python, project, "with the changed line")
        sentry_ours = hops(python, project, "with the changed line and Sentry", "with_sentry")
        pip(python, "--force-reinstall", "--no-deps", sdist)
        from_sdist = hops(python, project, "with the changed line, installed from the sdist")
        tests_with, failed_with = run(project, "hopless", ["test", "tests"], python, "django")
        more, fewer = len(failed_with - failed), len(failed - failed_with)
        print(f"with hopless: {tests_with} tests, {more} more fail, {fewer} fewer")
        change(project, OURS, STOCK)
        after = hops(python, project, "with the original line")
        if options.speed:
            measure(python, project, further)
    less = all(ours[path]["hops"] < before[path]["hops"] and ours[path]["threads"] == 0 for path in PATHS)
    alike = (tests, failed, before, ours) == (tests_with, failed_with, after, from_sdist)
    sentry_alike = sentry_ours == {**ours, "transactions": sentry_before["transactions"]}
    sys.exit(not (less and alike and sentry_alike))


if __name__ == "__main__":
    main()
