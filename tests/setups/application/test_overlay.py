"""The overlay: the project's Python and packages, with the servers before them, and nothing of the project changed."""

import shutil
import subprocess
import sys
import zipfile

import pytest

from loadtests import setups
from loadtests.setups.application import overlay
from loadtests.setups.application.project import Options, find

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]


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


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index of its own: what `release` puts there is all that pip finds."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    pins = tmp_path / "requirements.txt"
    pins.write_text("")
    monkeypatch.setattr(overlay, "REQUIREMENTS", pins)

    def release(name, version, needs="", pinned=False):
        about = f"{name}-{version}.dist-info"
        wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
            file.writestr(f"{name}.py", f"version = {version!r}\ndef main():\n    print({name!r}, version)\n")
            file.writestr(f"{about}/METADATA", metadata(name, version, needs))
            file.writestr(f"{about}/WHEEL", wheel)
            file.writestr(f"{about}/entry_points.txt", f"[console_scripts]\n{name} = {name}:main\n")
            file.writestr(f"{about}/RECORD", "")
        if pinned:
            pins.write_text(pins.read_text() + f"{name}=={version}  # a server\n")

    return release


def metadata(name, version, needs=""):
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + (f"Requires-Dist: {needs}\n" if needs else "")


def has(environment, name, version):
    """Puts a package into the project's environment."""
    [packages] = (environment / "lib").glob("python*/site-packages")
    (packages / f"{name}.py").write_text(f"version = {version!r}\n")
    about = packages / f"{name}-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(metadata(name, version))


def files(folder):
    return sorted(str(path) for path in folder.rglob("*"))


def says(folder, code):
    return subprocess.run([folder / "python", "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_the_projects_packages_and_commands_work_in_the_overlay_and_nothing_of_it_changes(environment):
    before = files(environment)
    folder = overlay.make(environment / "bin" / "python", []).bin
    assert folder.parent != environment
    said = subprocess.run([folder / "theirs"], capture_output=True, text=True, check=True).stdout
    assert said == f"theirs {folder.parent}\n"
    assert [path for path in files(environment) if "__pycache__" not in path] == before
    assert overlay.make(environment / "bin" / "python", []).bin == folder


def test_the_servers_are_the_benchmarks_and_what_they_stand_on_is_the_projects(environment, index):
    has(environment, "gunicorn", "23.0")
    has(environment, "parser", "1.5")
    index("gunicorn", "27.0", needs="parser>=1", pinned=True)
    index("parser", "2.0")
    made = overlay.make(environment / "bin" / "python", setups.find(["gunicorn"]))
    assert made.left_out == ()
    assert says(made.bin, "import gunicorn, parser; print(gunicorn.version, parser.version)") == "27.0 1.5"
    assert subprocess.run([made.bin / "gunicorn"], capture_output=True, text=True).stdout == "gunicorn 27.0\n"


def test_a_server_that_cannot_go_with_what_the_project_has_is_left_out_and_the_others_are_not(environment, index):
    has(environment, "parser", "1.5")
    index("parser", "2.0")
    index("daphne", "4.0", needs="parser>=2", pinned=True)
    index("gunicorn", "27.0", pinned=True)
    made = overlay.make(environment / "bin" / "python", setups.find(["gunicorn", "daphne"]))
    [left_out] = made.left_out
    assert left_out.startswith("daphne==4.0 was left out: ")
    assert setups.missing(*setups.find(["gunicorn"]), made.bin) is None
    assert "daphne" in setups.missing(*setups.find(["daphne"]), made.bin)


def test_what_the_project_installed_for_editing_is_found(environment, tmp_path):
    [packages] = (environment / "lib").glob("python*/site-packages")
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "ours.py").write_text("where = 'shared'\n")
    (packages / "editable.pth").write_text(f"{shared}\n")
    made = overlay.make(environment / "bin" / "python", [])
    assert says(made.bin, "import ours; print(ours.where)") == "shared"


def test_another_python_at_the_same_place_is_another_overlay(environment):
    python = environment / "bin" / "python"
    first = overlay.make(python, []).bin
    (environment / "pyvenv.cfg").write_text(
        (environment / "pyvenv.cfg").read_text() + "include-system-site-packages = true\n"
    )
    assert overlay.make(python, []).bin != first


def test_our_own_python_needs_no_overlay():
    assert overlay.make(overlay.Path(sys.executable), []).bin == overlay.Path(sys.executable).parent


def test_what_a_setup_needs_is_pinned_as_in_requirements():
    wanted = overlay.requirements(setups.find(["uvicorn"]))
    assert any(line.startswith("uvicorn==") for line in wanted)
    assert any(line.startswith("uvloop==") for line in wanted)
    assert not any(line.startswith("numpy") for line in wanted)


def test_an_environment_next_to_the_project_is_found(environment, mysite):
    site = shutil.copytree(mysite, environment.parent, dirs_exist_ok=True)
    (environment / "lib").joinpath("unused").mkdir()
    [packages] = (environment / "lib").glob("python*/site-packages")
    import django

    (packages / "benchmarks-django.pth").write_text(str(overlay.Path(django.__file__).parent.parent) + "\n")
    found = find(Options(site), [])
    assert found.application.bin.parent.parent.name == "overlays"
    assert not any("own Python" in remark for remark in found.remarks)


def test_an_installation_that_failed_is_tried_again(environment, index):
    python = environment / "bin" / "python"
    index("gunicorn", "27.0", needs="parser", pinned=True)
    first = overlay.make(python, setups.find(["gunicorn"]))
    assert first.left_out
    served_from_here = first.bin.parent / "in-use"
    served_from_here.touch()
    index("parser", "2.0")
    again = overlay.make(python, setups.find(["gunicorn"]))
    assert not again.left_out
    assert (again.bin / "gunicorn").exists()
    assert served_from_here.exists()


def test_the_versions_are_those_of_both(environment, index):
    has(environment, "parser", "1.5")
    index("gunicorn", "27.0", pinned=True)
    made = overlay.make(environment / "bin" / "python", setups.find(["gunicorn"]))
    found = overlay.versions(made.bin / "python")
    assert (found["gunicorn"], found["parser"]) == ("27.0", "1.5")


def test_hopless_is_installed_for_the_project_and_left_out_where_its_django_is_too_old(environment, index, monkeypatch):
    index("hopless", "0.1", needs="Django>=5.2")
    [wheel] = (environment.parents[1] / "index").iterdir()
    monkeypatch.setattr(overlay, "HOPLESS_HERE", f"hopless @ {wheel.as_uri()}")
    [served] = setups.find(["uvicorn-hopless"])
    has(environment, "Django", "4.2")
    [left_out] = overlay.make(environment / "bin" / "python", [served]).left_out
    assert left_out.startswith("hopless was left out: ")
    shutil.rmtree(next((environment / "lib").glob("python*/site-packages/Django-4.2.dist-info")))
    has(environment, "Django", "5.2")
    made = overlay.make(environment / "bin" / "python", [served])
    assert made.left_out == ()
    assert says(made.bin, "import hopless; print(hopless.version)") == "0.1"
