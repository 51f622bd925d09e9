"""The overlay: the project's Python and packages, with the servers before them, and nothing of the project changed."""

import subprocess
import sys

import pytest

from loadtests.application import overlay
from loadtests.application.project import Options, find
from loadtests.serve import setups


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """A virtual environment without pip that has one package with a command."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "project" / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    [packages] = (folder / "lib").glob("python*/site-packages")
    (packages / "theirs.py").write_text("import sys\ndef main():\n    print('theirs', sys.prefix)\n")
    about = packages / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[console_scripts]\ntheirs = theirs:main\n")
    return folder


def files(folder):
    return sorted(str(path) for path in folder.rglob("*") if "__pycache__" not in path.parts)


def test_the_projects_packages_and_commands_work_in_the_overlay_and_nothing_of_it_changes(environment):
    before = files(environment)
    folder = overlay.make(environment / "bin" / "python", [])
    assert folder.parent != environment
    said = subprocess.run([folder / "theirs"], capture_output=True, text=True, check=True).stdout
    assert said == f"theirs {folder.parent}\n"
    assert files(environment) == before
    assert overlay.make(environment / "bin" / "python", []) == folder


def test_our_own_python_needs_no_overlay():
    assert overlay.make(overlay.Path(sys.executable), []) == overlay.Path(sys.executable).parent


def test_what_a_setup_needs_is_pinned_as_in_requirements():
    wanted = overlay.requirements(setups.find(["uvicorn"]))
    assert any(line.startswith("uvicorn==") for line in wanted)
    assert any(line.startswith("uvloop==") for line in wanted)
    assert not any(line.startswith("numpy") for line in wanted)


def test_an_environment_beside_the_project_is_found(environment, startproject):
    site = environment.parent
    made = startproject("shop")
    for path in made.iterdir():
        path.rename(site / path.name)
    (environment / "lib").joinpath("unused").mkdir()
    [packages] = (environment / "lib").glob("python*/site-packages")
    import django

    (packages / "benchmarks-django.pth").write_text(str(overlay.Path(django.__file__).parent.parent) + "\n")
    found = find(Options(site), [])
    assert found.application.bin.parent.parent.name == "overlays"
    assert not any("own Python" in remark for remark in found.remarks)


def test_an_installation_that_fails_leaves_no_half_made_overlay(environment, monkeypatch, tmp_path):
    nothing = tmp_path / "requirements.txt"
    nothing.write_text("gunicorn==0.0.0.dev999  # not to be had\n")
    monkeypatch.setattr(overlay, "REQUIREMENTS", nothing)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(overlay.UserError, match="cannot be installed beside the project"):
        overlay.make(environment / "bin" / "python", setups.find(["gunicorn"]))
    assert not list((tmp_path / "cache").glob("*/overlays/*"))
