"""Install the measured packages for several Python versions, each into stacks/PYTHON/.venv.

`make setup PYTHONS="python3.11 python3.13 python3.14t"` runs this program. It skips missing Python versions.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORKS = "import ensurepip, sys; sys.exit(sys.version_info < (3, 11))"
NAME = re.compile(r"python3\.\d+t?")  # the format of the knob PYTHON


def find(name: str) -> str | None:
    """Find a working program with this name, such as ``python3.13``, on PATH or as pyenv's newest version."""
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    of_pyenv = glob.glob(f"{versions}/{name.removeprefix('python').rstrip('t')}.*/bin/{name}")
    newest = sorted(of_pyenv, key=lambda path: [int(part) for part in re.findall(r"\d+", path)], reverse=True)
    for program in filter(None, [shutil.which(name), *newest]):
        if subprocess.run([program, "-c", WORKS], capture_output=True, check=False).returncode == 0:
            return program
    return None


def measured() -> list[str]:
    """Return the measured requirements of requirements.txt, and this project's packages."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8").partition("# What measures")[0]
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    packages = sorted(str(file.parent) for file in ROOT.glob("packages/*/pyproject.toml"))
    return [*filter(None, lines), *packages]


def make(name: str, program: str, requirements: Iterable[str]) -> None:
    """Create the environment again, unless it already contains these requirements.

    Print a line for each package that can't be installed, and skip it.
    """
    folder = ROOT / "stacks" / name / ".venv"
    ready, wanted = folder / ".ready", "\n".join(requirements)
    if ready.is_file() and ready.read_text(encoding="utf-8") == wanted:
        return
    subprocess.run([program, "-m", "venv", "--clear", folder], check=True)
    install = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.run([*install, *requirements], stderr=subprocess.DEVNULL, check=False).returncode:
        for one in requirements:  # some packages may not be built for this Python
            if subprocess.run([*install, one], stderr=subprocess.DEVNULL, check=False).returncode:
                print(f"{name}: {one} cannot be installed: the setups that need it are left out")
    subprocess.run([folder / "bin/python", "-c", "import django"], check=True)
    ready.write_text(wanted, encoding="utf-8")


def main(names: Iterable[str]) -> None:
    for name in names:
        if not NAME.fullmatch(name):
            sys.exit(f"PYTHONS: {name!r} is no name such as python3.13 or python3.14t")
        if (program := find(name)) is None:
            version = name.removeprefix("python")
            print(f"{name} is not there, and left out; try: pyenv install {version}, or apt-get install {name}-venv")
        else:
            make(name, program, measured())


if __name__ == "__main__":
    if sys.argv[1] == "--find":  # prints the working programs with these names
        print("\n".join(program for name in sys.argv[2:] if (program := find(name))))
    else:
        main(sys.argv[1:])
