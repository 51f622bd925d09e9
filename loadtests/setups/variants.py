"""Read variants, which change the environment of a setup, such as another release of its server.

An environment consists of a Python, its packages, and the project. Studies and run.json contain variants as texts.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

from loadtests.errors import UserError, shown
from loadtests.setups import deployed, interpreters
from loadtests.workload.secrets import without_accounts

HOPLESS = "hopless"
FORMS = (
    "a package and its version (granian==2.7.9), a package and its source (uvicorn @ git+https://...), python=3.13, "
    "the folder of another checkout of your project (../my-branch), a file with your project's deployed command "
    "(Procfile, Dockerfile, gunicorn.conf.py or uwsgi.ini), or hopless"
)
_PACKAGE = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*?)(?P<extras>\[[\w., -]*\])?\s*(?P<version>@\s*\S+|[=~!<>]=?=?.+)")
_PYTHON = re.compile(r"python\s*==?\s*(3\.\d{1,3}t?)")
_URL = re.compile(r"\w[\w+]*:")
_NO_LABEL = re.compile(r"[^A-Za-z0-9._+]+")
_MOST_OF_A_LABEL = 40


@dataclasses.dataclass(frozen=True)
class Variant:
    """One change of an environment.

    Args:
        text: The text in studies and run.json, which ``parse`` can read.
        package: The normalized name of the package that the variant replaces, or empty.
        python: The version of Python, such as ``3.13``, or empty.
        folder: The folder of another checkout of the user's project, or empty.
        file: The file with the project's deployed command (``loadtests.setups.deployed``), or empty.
    """

    text: str
    package: str = ""
    python: str = ""
    folder: str = ""
    file: str = ""

    @property
    def subject(self) -> str:
        """The part of the environment that the variant changes. Variants of the same part exclude each other."""
        parts = (("the Python", self.python), ("the folder", self.folder), ("the command", self.file))
        return self.package or next((part for part, is_changed in parts if is_changed), self.text)

    @property
    def is_hopless(self) -> bool:
        return self.text == HOPLESS

    @property
    def name(self) -> str:
        """A short name for the labels of setups, such as ``granian-2.7.9``."""
        source = self.text.partition(" @ ")[2]
        if source:
            name = f"{self.package}-{source.rpartition('/')[2].partition('@')[2][:8] or 'source'}"
        elif self.package:
            name = f"{self.package}-{self.text[len(self.package) :]}"
        else:
            name = Path(self.folder or self.file).name or self.text
        return _NO_LABEL.sub("-", name).strip("-.")[:_MOST_OF_A_LABEL] or "other"

    def name_for(self, label: str) -> str:
        """Return the label of a setup with this variant, such as ``granian-wsgi-2.7.9``."""
        repeated = f"{self.package}-" if self.package and label.startswith(self.package) else ""
        return f"{label}-{self.name.removeprefix(repeated)}"


def parse(text: str) -> Variant:
    """Read a variant. Relative paths become absolute.

    Raises:
        UserError: If the text isn't a variant.
    """
    text = text.strip()
    if text == HOPLESS:
        return Variant(text)
    if match := _PYTHON.fullmatch(text):
        return Variant(f"python={match[1]}", python=match[1])
    if without_accounts(text) != text:
        raise UserError("variant: run.json would store the user or password in the URL. Use a git credential helper")
    if match := _PACKAGE.fullmatch(text):
        version = match["version"].replace(" ", "")
        if version.startswith("@"):
            source = version[1:]
            version = f" @ {source if _URL.match(source) else Path(source).absolute().as_uri()}"
        return Variant(f"{match['name']}{match['extras'] or ''}{version}", package=normalized(match["name"]))
    if deployed.FILE.search(Path(text).name) and not Path(text).is_dir():
        file = str(Path(text).resolve())
        return Variant(file, file=file)
    if "/" in text or text.startswith(".") or Path(text).is_dir():
        folder = str(Path(text).resolve())
        return Variant(folder, folder=folder)
    raise UserError(f"variant {shown(text)}: write {FORMS}")


def is_deployed(texts: Sequence[str]) -> bool:
    """Return whether an environment with these variants runs the project's deployed command."""
    return any(one.file for one in parse_environment(texts))


def parse_options(texts: Sequence[str]) -> list[Variant]:
    """Read the values of the option ``--variant``. Each value defines a separate environment.

    Raises:
        UserError: If a text isn't a variant, or names a Python that this machine lacks.
    """
    found = list(dict.fromkeys(parse(text) for text in texts))
    for version in (one.python for one in found if one.python):
        interpreters.find(version)
    return found


def normalized(requirement: str) -> str:
    """Return the normalized name of a requirement's package, or an empty string."""
    match = re.match(r"[\w.-]+", requirement)
    return re.sub(r"[-_.]+", "-", match[0]).lower() if match else ""


def parse_environment(texts: Sequence[str]) -> tuple[Variant, ...]:
    """Read the variants of one environment.

    Raises:
        UserError: If a text isn't a variant, or two variants exclude each other.
    """
    found = tuple(parse(text) for text in texts)
    subjects = [one.subject for one in found]
    for one in found:
        if subjects.count(one.subject) > 1:
            raise UserError(f"variant: two variants change {one.subject}. Use a separate setup for each variant")
    return found
