"""Test the prose checker with small repositories."""

import shutil
import subprocess
import sys

import pytest

from loadtests.files import ROOT

PLAIN = "Start the server. Wait until it answers."
UNCLEAR = "What it does is said here, in one line."


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "tools/plain.py", tmp_path / "tools")
    (tmp_path / ".gitignore").write_text("tools/\n")
    (tmp_path / "plain.toml").write_text('"." = 0.0\n"docs" = 9.5\n')
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def check(repository, text, *options, file="docs/page.rst"):
    (repository / file).write_text(text)
    program = [sys.executable, "tools/plain.py", *options]
    return subprocess.run(program, cwd=repository, capture_output=True, text=True)


def test_plain_text_passes(repository):
    result = check(repository, PLAIN)
    assert (result.returncode, result.stderr) == (0, "")


def test_folder_above_its_limit_fails(repository):
    result = check(repository, UNCLEAR)
    assert result.returncode == 1
    assert "docs has 555.6 findings per 1,000 words, and its limit is 9.5" in result.stderr


def test_folder_without_limit_fails(repository):
    (repository / "new").mkdir()
    result = check(repository, PLAIN, file="new/page.rst")
    assert "new has no limit. Add a limit to plain.toml" in result.stderr


def test_documentation_has_word_limit(repository):
    result = check(repository, PLAIN * 6_000)
    assert "the documentation has 36,001 words, and its limit is 35,000" in result.stderr


def test_option_lower_only_lowers_limits(repository):
    check(repository, PLAIN, "--lower")
    assert (repository / "plain.toml").read_text() == '"." = 0.0\n"docs" = 0.0\n'
    assert check(repository, UNCLEAR, "--lower").returncode == 1
    assert (repository / "plain.toml").read_text() == '"." = 0.0\n"docs" = 0.0\n'


def test_finding_shows_file_and_line(repository):
    result = check(repository, f"{PLAIN}\n\n{UNCLEAR}", "docs/page.rst")
    assert "docs/page.rst:3: what-clause: 'What it'" in result.stdout


@pytest.mark.parametrize(
    ("file", "text", "part"),
    [
        ("docs/a.py", f'"""{UNCLEAR}"""\n', "docstrings"),
        ("docs/a.py", f"# {UNCLEAR}\n", "comments"),
        ("docs/a.js", f'throw Error("{UNCLEAR}");\n', "messages"),
        ("docs/a.py", "def test_what_it_does_is_said(): pass\n", "test names"),
    ],
)
def test_finding_has_a_part(repository, file, text, part):
    result = check(repository, text, "--quiet", file, file=file)
    assert [line for line in result.stdout.splitlines() if line.startswith(part) and " 0 findings" not in line]
