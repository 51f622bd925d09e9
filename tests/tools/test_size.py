"""`make size` counts the lines that a commit of all that is there would have."""

import shutil
import subprocess
import sys

import pytest

from loadtests.files import ROOT


@pytest.fixture
def size(tmp_path):
    """A function: writes the files of a project and commits some of them; gives what is printed."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "size.py", tmp_path / "tools")

    def run(tracked, others):
        subprocess.run(["git", "init", "-q", tmp_path], check=True)
        for name, lines in {**tracked, **others}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("x\n" * lines)
        subprocess.run(["git", "-C", tmp_path, "add", *tracked], check=True)
        program = [sys.executable, "tools/size.py"]
        return subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    return run


def test_files_that_are_not_added_yet_count_and_what_git_ignores_and_what_is_gone_does_not(size, tmp_path):
    (tmp_path / ".gitignore").write_text("built/\n")
    found = size(
        {"loadtests/a/one.py": 7, "loadtests/gone.py": 2, "packages/p/p/two.py": 5, "tests/test_one.py": 3},
        {"loadtests/a/new.js": 1000, "loadtests/note.txt": 50, "loadtests/built/two.py": 9},
    )
    assert " 1,007  loadtests/a\n" in found
    assert found.splitlines()[-1].startswith("product: 1,009  packages: 5  tests: 3  tools: ")
    (tmp_path / "loadtests/gone.py").unlink()
    assert "product: 1,007  " in size({}, {})
