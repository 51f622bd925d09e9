"""Test that ``make setup`` installs into .venv regardless of PYTHONPATH and pip.conf, and checks the result."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from loadtests.files import ROOT
from loadtests.setups import environment

PACKAGE = "six==1.17.0"  # a small package that no other package requires


@pytest.fixture
def project(tmp_path):
    """Return the folder of a project with the Makefile and a single requirement."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "imports.py", tmp_path / "tools")
    (tmp_path / "requirements.txt").write_text(f"{PACKAGE}\n")
    return tmp_path


def setup(project, **environment):
    command = ["make", ".venv/.ready", f"PYTHON={sys.executable}"]
    environment = {**os.environ, "PATH": f"{project}:{os.environ['PATH']}", **environment}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_incomplete_environment_is_reported(project):
    """Check that a package that .venv lacks is reported, even if another folder contains the package."""
    others = project / "others"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", others, PACKAGE], check=True)
    config = project / "pip.conf"
    config.write_text("[install]\nuser = true\n")
    found = setup(project, PYTHONPATH=str(others), PIP_CONFIG_FILE=str(config))
    assert found.returncode == 0, found.stderr
    [module] = project.glob(".venv/lib/*/site-packages/six.py")

    (project / ".venv/.ready").unlink()
    module.unlink()
    require_incomplete(project, "six: import six: ModuleNotFoundError: No module named 'six'")

    # Replace pip with a script that reports success without installing anything.
    pip = project / "install.sh"
    pip.write_text('#!/bin/sh\ncase "$*" in *dry-run*|check) exec "${0%/*}/pip3" "$@" ;; esac\n')
    makefile = (project / "Makefile").read_text()
    made = "$(PYTHON) -m venv $(VENV)\n"
    assert made in makefile
    (project / "Makefile").write_text(makefile.replace(made, f"{made}\tinstall -m 755 install.sh $(BIN)/pip\n"))
    shutil.rmtree(project / ".venv")
    require_incomplete(project, "No matching distribution found for six")


@pytest.fixture
def programs(tmp_path_factory):
    """Return a folder with the programs on PATH, except Node and npm."""
    folder = tmp_path_factory.mktemp("programs")
    for program in (one for path in os.get_exec_path() if os.path.isdir(path) for one in os.scandir(path)):
        if program.name not in ("node", "npm") and not (folder / program.name).is_symlink():
            (folder / program.name).symlink_to(program.path)
    return folder


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("old", [False, True], ids=["no Node", "an old Node"])
def test_missing_node_is_installed(project, programs, old):
    for name in ("node", "npm") if old else ():
        (programs / name).write_text("#!/bin/sh\necho v18.19.0\n")
        (programs / name).chmod(0o755)
    (project / "package.json").write_text('{"engines": { "node": ">=20.18.1" }}\n')
    found = setup(project, PATH=str(programs))
    assert found.returncode == 0, found.stderr
    assert "npm or Node v20.18.1 is missing, so both are installed into .venv\n" in found.stdout
    path = f"{project / '.venv/bin'}:{programs}"
    npm = subprocess.run(
        ["npm", "version", "--json"], env={"PATH": path}, cwd=project, stdout=subprocess.PIPE, check=True
    )
    assert json.loads(npm.stdout)["node"].startswith("24.")


@pytest.mark.parametrize("file", ["Makefile", "deploy/provision.sh"])
def test_node_versions_agree(file):
    assert environment.NODE[0] in (ROOT / file).read_text(encoding="utf-8")


def require_incomplete(project, why):
    found = setup(project)
    assert found.returncode != 0
    assert why in found.stderr
    assert ".venv is not complete; try: make clean setup" in found.stderr
    assert not (project / ".venv/.ready").exists()


def imports(project, requirements):
    """Run the project's tools/imports.py with these requirements and return the ended process."""
    (project / "requirements.txt").write_text("".join(f"{name}==1 ; python_version > '3'\n" for name in requirements))
    return subprocess.run([sys.executable, "tools/imports.py"], cwd=project, capture_output=True, text=True)


@pytest.fixture
def installed(project, monkeypatch):
    """Return a function that installs a package with these files."""
    monkeypatch.setenv("PYTHONPATH", str(project / "site"))

    def install(name, files):
        info = project / "site" / f"{name}-1.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
        for file, text in files.items():
            (project / "site" / file).parent.mkdir(parents=True, exist_ok=True)
            (project / "site" / file).write_text(text)

    return install


def test_failed_import_shows_the_reason(project, installed):
    installed("good", {"good.py": "print('hello')", "good_too/__init__.py": ""})
    installed("below", {"shared/below/__init__.py": "", "shared/below/deep/__init__.py": "import nothing_like_it"})
    installed("program", {"../bin/program": ""})
    names = ["good", "below", "program", "not-installed"]
    found = imports(project, names)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")
    shutil.rmtree(project / "site/shared")
    (project / "site/good.py").write_text("import nothing_like_it")
    (project / "bin/program").unlink()
    found = imports(project, names)
    assert found.returncode == 1
    assert found.stderr.splitlines() == [
        "below: import shared.below: ModuleNotFoundError: No module named 'shared'",
        "good: import good: ModuleNotFoundError: No module named 'nothing_like_it'",
        "program: ../bin/program is missing",
    ]
