"""Test the overlay of a project's environment.

Python finds the servers' packages before the project's packages, and the project isn't changed.
"""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import django
import pytest

from loadtests import setups
from loadtests.errors import UserError
from loadtests.setups import environment
from loadtests.setups.application import overlay
from loadtests.setups.application.project import Options, find
from loadtests.setups.variants import parse

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]


class Project:
    """Create a virtual environment without pip, with the test's packages."""

    def __init__(self, folder):
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        [self.packages] = (folder / "lib").glob("python*/site-packages")

    def has(self, name, version, code=""):
        """Add a package to the environment, with a command of the same name."""
        (self.packages / f"{name}.py").write_text(f"import sys\nversion = {version!r}\n{code}")
        about = self.packages / f"{name}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(metadata(name, version))
        (about / "entry_points.txt").write_text(f"[console_scripts]\n{name} = {name}:main\n")

    def overlay(self, *names):
        """Return the project's overlay with the servers of these setups."""
        return overlay.make(self.folder / "bin" / "python", setups.find(names) if names else [])

    def overlay_with(self, variant, *names):
        """Return the project's overlay for these setups with a variant."""
        found = [setup.with_variants([parse(variant)]) for setup in setups.find(names)]
        return overlay.make(self.folder / "bin" / "python", found, (), [parse(variant)])


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Project(tmp_path / "project" / "venv")


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Provide a package index for the test. pip finds only the packages that ``release`` adds."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    pins = tmp_path / "requirements.txt"
    pins.write_text("")
    monkeypatch.setattr(environment, "REQUIREMENTS", pins)

    def release(name, version, needs="", pinned=False):
        about = f"{name}-{version}.dist-info"
        wheel = folder / f"{name}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as file:
            file.writestr(f"{name}.py", f"version = {version!r}\ndef main():\n    print({name!r}, version)\n")
            file.writestr(f"{about}/METADATA", metadata(name, version, needs))
            file.writestr(
                f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            file.writestr(f"{about}/entry_points.txt", f"[console_scripts]\n{name} = {name}:main\n")
            file.writestr(f"{about}/RECORD", "")
        if pinned:
            pins.write_text(pins.read_text() + f"{name}=={version}  # a server\n")
        return wheel

    return release


def metadata(name, version, needs=""):
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + (f"Requires-Dist: {needs}\n" if needs else "")


def files(folder):
    return sorted(str(path) for path in folder.rglob("*") if "__pycache__" not in str(path))


def says(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_overlay_leaves_the_project_unchanged(project, tmp_path):
    project.has("theirs", "1.0", "def main():\n    print('theirs', sys.prefix)\n")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "ours.py").write_text("where = 'shared'\n")
    (project.packages / "editable.pth").write_text(f"{tmp_path / 'shared'}\n")  # installed for editing
    before = files(project.folder)
    bin = project.overlay().bin
    assert bin.parent != project.folder
    assert says(bin / "theirs") == f"theirs {bin.parent}"
    assert says(bin / "python", "-c", "import ours; print(ours.where)") == "shared"
    assert files(project.folder) == before
    assert project.overlay().bin == bin
    about = project.folder / "pyvenv.cfg"
    about.write_text(about.read_text() + "include-system-site-packages = true\n")
    assert project.overlay().bin != bin  # the changed pyvenv.cfg describes another Python


def test_servers_come_from_the_benchmark(project, index):
    project.has("gunicorn", "23.0")
    project.has("parser", "1.5")
    index("gunicorn", "27.0", needs="parser>=1", pinned=True)
    index("parser", "2.0")
    made = project.overlay("gunicorn")
    assert made.left_out == ()
    code = "import gunicorn, parser; print(gunicorn.version, parser.version)"
    assert says(made.bin / "python", "-c", code) == "27.0 1.5"
    assert says(made.bin / "gunicorn") == "gunicorn 27.0"
    found = overlay.versions(made.bin / "python")
    assert (found["gunicorn"], found["parser"]) == ("27.0", "1.5")


def test_incompatible_server_is_omitted(project, index):
    project.has("parser", "1.5")
    index("parser", "2.0")
    index("daphne", "4.0", needs="parser>=2", pinned=True)
    index("gunicorn", "27.0", pinned=True)
    made = project.overlay("gunicorn", "daphne")
    [left_out] = made.left_out
    assert left_out.startswith("daphne==4.0 was left out: ")
    gunicorn, daphne = setups.find(["gunicorn", "daphne"])
    assert setups.missing(gunicorn, made.bin) is None
    assert "daphne" in setups.missing(daphne, made.bin)


def test_environment_next_to_project_is_found(project, mysite):
    site = shutil.copytree(mysite, project.folder.parent, dirs_exist_ok=True)
    (project.folder / "lib" / "unused").mkdir()
    (project.packages / "benchmarks-django.pth").write_text(f"{Path(django.__file__).parents[1]}\n")
    found = find(Options(site), [])
    assert found.application.bin.parent.parent.name == "overlays"
    assert not any("own Python" in remark for remark in found.remarks)


def test_failed_installation_is_retried(project, index):
    index("gunicorn", "27.0", needs="parser", pinned=True)
    first = project.overlay("gunicorn")
    assert first.left_out
    served_from_here = first.bin.parent / "in-use"
    served_from_here.touch()
    index("parser", "2.0")
    again = project.overlay("gunicorn")
    assert not again.left_out
    assert (again.bin / "gunicorn").exists()
    assert served_from_here.exists()


def test_variant_replaces_all_package_versions(project, index):
    project.has("django", "5.2")
    project.has("parser", "1.5")
    index("gunicorn", "27.0", needs="parser>=1", pinned=True)
    index("gunicorn", "26.0", needs="parser>=1")
    index("django", "6.1", needs="parser>=2")
    index("parser", "2.0")
    index("parser", "3.0")
    released = project.overlay_with("gunicorn==26.0", "gunicorn")
    upgraded = project.overlay_with("django==6.1", "gunicorn")
    plain = project.overlay("gunicorn")
    code = "import django, gunicorn, parser; print(django.version, gunicorn.version, parser.version)"
    versions = [says(made.bin / "python", "-c", code) for made in (plain, released, upgraded)]
    assert versions[:2] == ["5.2 27.0 1.5", "5.2 26.0 1.5"]
    assert versions[2].startswith("6.1 27.0 ")  # with a compatible version of parser
    assert not versions[2].endswith("1.5")
    assert says(upgraded.bin / "django").startswith("django 6.1")
    assert project.overlay_with("django==6.1", "gunicorn") == upgraded


def test_failed_variant_names_the_log(project, index):
    project.has("django", "5.2")
    index("gunicorn", "27.0", pinned=True)
    with pytest.raises(
        UserError, match=r"^django==6\.9 can't be installed: .*django==6\.9.* \(log: .*\.log\)$"
    ) as error:
        project.overlay_with("django==6.9", "gunicorn")
    log = Path(str(error.value).partition("(log: ")[2].rstrip(")"))
    assert "django" in log.read_text()
    assert not log.with_suffix("").exists()


def test_new_commit_creates_new_environment(project, index, tmp_path):
    source = tmp_path / "server"
    source.mkdir()

    def commit(text):
        (source / "code").write_text(text)
        for words in (["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", text]):
            subprocess.run(["git", "-C", source, *words], check=True)

    subprocess.run(["git", "init", "--quiet", "--initial-branch", "main", source], check=True)
    commit("one")
    requirement = f"server @ git+{source.as_uri()}@main"
    first = overlay.pinned(requirement)
    commit("two")
    assert first.rpartition("@")[0] == f"server @ git+{source.as_uri()}"
    assert overlay.pinned(requirement) != first
    assert overlay.pinned(first) == first
    with pytest.raises(UserError, match="git can't read"):
        overlay.pinned(f"server @ git+{(tmp_path / 'none').as_uri()}")
