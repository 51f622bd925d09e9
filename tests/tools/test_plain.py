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


def check(repository, text):
    (repository / "docs/page.rst").write_text(text)
    return subprocess.run([sys.executable, "tools/plain.py"], cwd=repository, capture_output=True, text=True)


def test_plain_text_passes(repository):
    result = check(repository, PLAIN)
    assert (result.returncode, result.stderr) == (0, "")


def test_folder_above_its_limit_fails(repository):
    result = check(repository, UNCLEAR)
    assert result.returncode == 1
    assert "docs has 555.6 findings per 1,000 words, and its limit is 9.5" in result.stderr


def test_documentation_has_word_limit(repository):
    result = check(repository, PLAIN * 6_000)
    assert "the documentation has 36,001 words, and its limit is 35,000" in result.stderr
