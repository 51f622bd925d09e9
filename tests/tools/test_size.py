"""Test `make size` with small repositories."""

import shutil
import subprocess
import sys

import pytest

from loadtests.files import ROOT

PYTHON = '''"""Describe the module.

In more than a line.
"""

# A reason.
import os  # another reason


class Door:
    """Describe the class."""

    handle = """a text

    with a blank line"""

    def open(self):
        """Describe the method."""
        return "# no comment"
'''
JAVASCRIPT = """// A reason.
/* A longer
   reason. */

const quoted = "// no comment";  // a reason
const found = text.replace(/["'`]/g, "/*");
const shown = `
  // no comment
`;
"""


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "size.py", tmp_path / "tools")
    (tmp_path / ".gitignore").write_text("built/\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def write(repository, name, text):
    file = repository / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def size(repository, **limits):
    lines = [f'"loadtests/{package}" = {limit}\n' for package, limit in limits.items()]
    write(repository, "size.toml", "tools = 200\n" + "".join(lines))
    program = [sys.executable, "tools/size.py"]
    return subprocess.run(program, cwd=repository, capture_output=True, text=True)


@pytest.mark.parametrize(("name", "text", "lines"), [("one.py", PYTHON, 7), ("one.js", JAVASCRIPT, 5)])
def test_only_lines_of_code_are_counted(repository, name, text, lines):
    write(repository, f"loadtests/a/{name}", text)
    found = size(repository, a=lines)
    assert (found.returncode, found.stderr) == (0, "")
    assert f"{lines:8}  of {lines:6}  loadtests/a\n" in found.stdout


def test_larger_package_fails(repository):
    write(repository, "loadtests/a/one.py", "x = 1\n" * 8)
    found = size(repository, a=7)
    assert found.returncode == 1
    assert "loadtests/a has 8 lines of code, and its limit is 7" in found.stderr


def test_files_of_next_commit_are_counted(repository):
    write(repository, "loadtests/a/tracked.py", "x = 1\n" * 7)
    write(repository, "loadtests/a/deleted.py", "x = 1\n" * 2)
    subprocess.run(["git", "-C", repository, "add", "loadtests"], check=True)
    write(repository, "loadtests/a/new.js", "x = 1\n" * 1000)
    write(repository, "loadtests/a/note.txt", "x\n")
    write(repository, "loadtests/built/two.py", "x = 1\n")
    (repository / "loadtests/a/deleted.py").unlink()
    assert "product: 1,007  packages: 0  tests: 0" in size(repository, a=1007).stdout
