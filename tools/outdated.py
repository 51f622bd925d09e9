"""List newer versions of the packages in requirements.txt, package.json, peers/ and packages/: ``make outdated``.

pip and npm report the newer versions. pip only compares installed packages with releases for the installed Python, so
pins for other Python versions are missing. The exit status is 0, even if a registry doesn't answer.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--retries", "0", "--timeout", "15")
NPM = ("npm", "outdated", "--json", "--fetch-retries", "0", "--fetch-timeout", "15000")
NAME = re.compile(r'^(?:dependencies = \[| +)?"?([A-Za-z][\w.-]*)(?:\[\w+\])?[=>]=', re.MULTILINE)
Row = tuple[str, str, str, str]  # the file, the package, the installed version and the newest version


class NoAnswer(Exception):
    """A registry didn't answer."""


def main() -> None:
    rows: list[Row] = []
    for registry, behind in (("the Python package index", of_python), ("npm's registry", of_node)):
        try:
            rows += behind()
        except NoAnswer:
            print(f"{registry} does not answer, so its packages are not checked")
    for row in [("Named in", "Package", "Installed", "Newest"), *rows]:
        print("{:<36}{:<26}{:<14}{}".format(*row))
    print(f"{len(rows)} behind")


def of_python() -> Iterator[Row]:
    """Yield the outdated packages of requirements.txt and packages/*/pyproject.toml."""
    answer(*PIP, "index", "versions", "Django")  # if the index doesn't answer, `list` reports no outdated packages
    files = [*sorted(ROOT.glob("packages/*/pyproject.toml")), ROOT / "requirements.txt"]
    named = {normal(name): file for file in files for name in NAME.findall(file.read_text(encoding="utf-8"))}
    for one in json.loads(answer(*PIP, "list", "--outdated", "--format", "json")):
        if file := named.get(normal(one["name"])):
            yield str(file.relative_to(ROOT)), one["name"], one["version"], one["latest_version"]


def of_node() -> Iterator[Row]:
    """Yield the outdated packages of package.json and peers/*/package.json."""
    for file in [ROOT / "package.json", *sorted(ROOT.glob("peers/*/package.json"))]:
        found = json.loads(answer(*NPM, folder=file.parent, good=(0, 1)) or "{}")
        if "error" in found:
            raise NoAnswer
        for name, one in found.items():
            if (installed := one.get("current", one["wanted"])) != one["latest"]:
                yield str(file.relative_to(ROOT)), name, installed, one["latest"]


def answer(*command: str, folder: Path = ROOT, good: tuple[int, ...] = (0,)) -> str:
    """Return the output of a command.

    Raises:
        NoAnswer: If the command doesn't exist, or its exit status isn't ``good``.
    """
    try:
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise NoAnswer from None
    if ended.returncode not in good:
        raise NoAnswer
    return ended.stdout


def normal(name: str) -> str:
    """Return the normalized name of a package, as pip compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
