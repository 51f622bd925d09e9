"""Create an overlay: a virtual environment on top of a project's environment, which doesn't change.

The overlay contains the servers, in the versions of requirements.txt, and the packages that a variant changes. Other
packages of the project keep their versions. If a server conflicts with these packages, the server isn't installed and
its setups are skipped. If a variant conflicts with these packages, the packages change, too.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from loadtests import files
from loadtests.cleanup import program
from loadtests.errors import UserError, reason_of
from loadtests.files import ROOT
from loadtests.setups import Setup, environment, interpreters
from loadtests.setups.needs import OTHER_NAMES
from loadtests.setups.variants import Variant, normalized

HOPLESS = ROOT / "packages" / "hopless"
HOPLESS_HERE = f"hopless @ {HOPLESS.as_uri()}"
CONSTRAINTS = "constraints.txt"

# Programs that the project's Python or the overlay's Python runs.
FOLDERS = "import json, sys; print(json.dumps([p for p in sys.path if p.endswith('-packages')]))"
WHICH = "import sys; print(sys.version, sys.base_prefix, sys.path)"
OWN = "import sysconfig; print(sysconfig.get_path('purelib'))"
VERSIONS = """
import importlib.metadata, json
def version(found):
    source = json.loads(found.read_text("direct_url.json") or "{}").get("vcs_info")
    return found.version + (" (commit " + source["commit_id"][:12] + ")" if source else "")
# If a package is installed twice, Python imports the first.
found = {d.metadata["Name"]: version(d) for d in reversed([*importlib.metadata.distributions()])}
print(json.dumps({name: version for name, version in found.items() if name}))
"""
COMMANDS = """
import importlib.metadata, json
found = importlib.metadata.entry_points()
chosen = found.select(group="console_scripts") if hasattr(found, "select") else found["console_scripts"]
print(json.dumps({e.name: e.value for e in chosen}))
"""
SHIM = """#!{python}
import sys
from {module} import {name}
sys.exit({called}())
"""


@dataclasses.dataclass(frozen=True)
class Overlay:
    """An overlay: the folder with its commands, and a line for each server that could not be installed."""

    bin: Path
    left_out: tuple[str, ...] = ()


def make(python: Path, setups: Iterable[Setup], extra: Iterable[str] = (), variants: Sequence[Variant] = ()) -> Overlay:
    """Return the overlay for a project's Python with the servers of ``setups`` and the ``extra`` packages.

    If the overlay doesn't exist, create it.

    Args:
        python: The project's Python.
        setups: The setups whose servers the overlay must contain.
        extra: More packages of requirements.txt.
        variants: The variants. Their packages replace packages of requirements.txt and of the project.

    Raises:
        UserError: If the overlay can't be created.
    """
    changes = [pinned(one.text) for one in variants if one.package]
    changed = {normalized(line) for line in changes}
    own = is_own(python)
    if own and not changes:
        return Overlay(python.parent)  # the benchmark's own environment contains every server
    pins = [] if own else [line for line in requirements(setups, extra) if normalized(line) not in changed]
    if any(one.file for one in variants):  # a deployed command runs with the project's own releases
        installed = {normalized(name) for name in versions(python)}
        pins = [line for line in pins if normalized(line) not in installed]
    # A new folder is needed if the Python, its packages, or the files of a package in a local folder have changed.
    sources = [_content(line) for line in [*pins, *changes]]
    key = f"{python}\n{_output([python, '-c', WHICH])}\n{versions(python)}\n{pins}\n{changes}\n{sources}"
    folder = files.cache() / "overlays" / hashlib.sha256(key.encode()).hexdigest()[:16]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with environment.opened_lock(folder.parent / f"{folder.name}.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "made-for.json"
        missing = pins
        if done.is_file():
            missing = json.loads(done.read_text(encoding="utf-8"))["left_out"]
        else:
            shutil.rmtree(folder, ignore_errors=True)
            try:
                _make(folder, python)
                if changes:
                    _change(folder, changes)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        # Try again to install the servers that failed before, maybe because of the network or the project's old
        # packages. The folder isn't created again, because a server may run from it at the same time.
        left_out = _install(folder, pins, missing)
        about = {"python": str(python), "requirements": [*changes, *pins], "left_out": list(left_out)}
        files.write_json(done, about)
    named = {line.partition(" @ ")[0]: why for line, why in left_out.items()}
    return Overlay(folder / "bin", tuple(f"{name} was left out: {why}" for name, why in named.items()))


def requirements(setups: Iterable[Setup], extra: Iterable[str] = ()) -> list[str]:
    """Return the requirements of ``setups`` and the ``extra`` packages. hopless comes from this repository."""
    names = {*extra, *(OTHER_NAMES.get(need, need) for setup in setups for need in setup.needs)}
    lines = [line.split("#")[0].strip() for line in environment.REQUIREMENTS.read_text(encoding="utf-8").splitlines()]
    return [line for line in [*lines, HOPLESS_HERE] if line and normalized(line) in names]


def on_python(python: Path, version: str) -> Path:
    """Return an interpreter of another Python version, in an environment with the same packages as the project's.

    Packages of the benchmark's own environment are left out if they aren't built for the other version.

    Raises:
        UserError: If there is no such Python, or the packages can't be installed for it.
    """
    own = is_own(python)
    packages = environment.servers() if own else _frozen(python)
    program = interpreters.find(version)
    return environment.created(f"python{version}", packages, program, strict=not own) / "bin" / "python"


def is_own(python: Path) -> bool:
    """Return whether this Python is in the benchmark's own environment, which contains all servers."""
    return python.parent.resolve() == environment.own_bin().resolve()


def pinned(requirement: str) -> str:
    """Return a requirement with the commit instead of a branch, so that a new commit leads to a new environment."""
    name, _, source = requirement.partition(" @ git+")
    url, _, revision = source.rpartition("@") if "@" in source.rpartition("/")[2] else (source, "", "HEAD")
    if not source:
        return requirement
    ended = program.run(["git", "ls-remote", url, revision], environment.STARTED_WITHIN_S)
    commit = ended.printed.partition("\t")[0]  # empty if the revision is already a commit
    if ended.status:
        raise UserError(f"{requirement}: git can't read {url}: {reason_of(ended.errors)}")
    return f"{name} @ git+{url}@{commit}" if commit else requirement


def version(python: Path) -> str:
    """Return the version of this Python."""
    return _output([python, "-c", "import platform; print(platform.python_version())"]).strip()


def versions(python: Path) -> dict[str, str]:
    """Return the versions of all packages that this Python finds, with the commits of packages from repositories."""
    found: dict[str, str] = json.loads(_output([python, "-c", VERSIONS]))
    return dict(sorted(found.items()))


def _make(folder: Path, python: Path) -> None:
    """Create the overlay's environment, without servers and without the packages of variants."""
    folders = json.loads(_output([python, "-c", FOLDERS]))
    _output([python, "-m", "venv", "--without-pip", folder])
    own = folder / "bin" / "python"
    packages = Path(_output([own, "-c", OWN]).strip())
    # Python searches the project's folders, including .pth files (editable installs), after the overlay's folders.
    lines = [f"import site; site.addsitedir({path!r})" for path in folders]
    (packages / "project.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _frozen(python: Path) -> tuple[str, ...]:
    """Return the project's packages as requirements, including packages from folders and repositories."""
    if environment.uv() is not None:
        return tuple(environment.run_uv("pip", "freeze", "--python", str(python)).splitlines())
    return tuple(_output([*environment.pip(python), "freeze"]).splitlines())


def _content(requirement: str) -> str:
    """Return a text that changes with the files of a requirement's local folder, or "" if there is no such folder."""
    folder = Path(urlsplit(requirement.partition(" @ ")[2]).path)
    if " @ file:" not in requirement or not folder.is_dir():
        return ""
    found = (one for one in sorted(folder.rglob("*")) if not {".git", "__pycache__"} & {*one.parts} and one.is_file())
    return "\n".join(f"{one} {one.stat().st_size} {one.stat().st_mtime_ns}" for one in found)


def _change(folder: Path, changes: list[str]) -> None:
    """Install the packages of the variants. Other packages change only if a variant requires it.

    Raises:
        UserError: If the packages can't be installed.
    """
    python = folder / "bin" / "python"
    kept = _constrain(folder, changes)
    if not (environment.uv() and _install_with_uv(folder, changes, kept)):
        # pip finds the project's packages, and replaces only packages that conflict with the changes.
        failure = f"{' and '.join(changes)} can't be installed"
        command = [*environment.pip(python), "install", *changes]
        program.output(command, failure, environment.INSTALLED_WITHIN_S, log=folder.parent / f"{folder.name}.log")


def _constrain(folder: Path, changes: Iterable[str]) -> set[str]:
    """Write constraints with the versions of all unchanged packages, and return the names of these packages."""
    changed = {normalized(line) for line in changes}
    found = {name: version.partition(" ")[0] for name, version in versions(folder / "bin" / "python").items()}
    kept = {
        normalized(name): f"{name}=={version}\n" for name, version in found.items() if normalized(name) not in changed
    }
    (folder / CONSTRAINTS).write_text("".join(kept.values()), encoding="utf-8")
    return {*kept}


def _install(folder: Path, pins: list[str], missing: list[str]) -> dict[str, str]:
    """Install the ``missing`` servers next to the project's packages, with uv, or one by one with pip if uv fails.

    Returns:
        The reason for each requirement that could not be installed.
    """
    own = folder / "bin" / "python"
    kept = _constrain(folder, pins)
    left_out = {}
    if missing and environment.uv() and _install_with_uv(folder, missing, kept):
        missing = []
    for line in missing:
        try:
            _output([*environment.pip(own), "install", "--constraint", str(folder / CONSTRAINTS), line])
        except UserError as error:
            left_out[line] = str(error)
    for command, value in json.loads(_output([own, "-c", COMMANDS])).items():
        module, _, name = value.partition(" ")[0].partition(":")
        shim = folder / "bin" / command
        if not shim.exists():  # the overlay's Python must run the commands of the project's packages
            text = SHIM.format(python=own, module=module, name=name.split(".")[0], called=name)
            shim.write_text(text, encoding="utf-8")
            shim.chmod(0o755)
    return left_out


def _install_with_uv(folder: Path, missing: list[str], kept: set[str]) -> bool:
    """Install packages with uv, and return whether the installation worked.

    uv doesn't find the project's packages through project.pth. These packages must not be installed again, so they are
    removed from uv's list.
    """
    wanted, solved = folder / "wanted.txt", folder / "solved.txt"
    wanted.write_text("\n".join(missing), encoding="utf-8")
    python = ("--python", str(folder / "bin" / "python"))
    constraint = ("--constraint", str(folder / CONSTRAINTS))
    try:
        environment.run_uv("pip", "compile", *python, *constraint, "--no-annotate", "-o", str(solved), str(wanted))
        lines = [line for line in solved.read_text(encoding="utf-8").splitlines() if normalized(line) not in kept]
        solved.write_text("\n".join(lines), encoding="utf-8")
        environment.run_uv("pip", "install", *python, "--no-deps", "--requirement", str(solved))
    except UserError:
        return False
    return True


def _output(command: list[str | Path]) -> str:
    return program.output(
        command, "the overlay for the project's Python can't be created", environment.INSTALLED_WITHIN_S
    )
