"""``results prune``: what is removed of results/, and what never is."""

import os
import subprocess
import time

import pytest

from loadtests import files

HOUR, DAY = 3600, 86400


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A folder of results."""
    folder = tmp_path / "results"
    folder.mkdir()
    monkeypatch.setattr(files, "RESULTS", folder)
    return folder


def make(results, name, age_s=2 * DAY, marker="run.json", text='{"ended": "2026-11-21T07:30:00+00:00"}'):
    """A folder that was written that long ago."""
    folder = results / name
    folder.mkdir()
    (folder / marker).write_text(text)
    for path in (folder / marker, folder):
        os.utime(path, (time.time() - age_s,) * 2)
    return folder


def names(results):
    return {folder.name for folder in results.iterdir()}


def test_the_newest_are_kept(command, results):
    for days in (1, 2, 3, 4):
        make(results, f"{days}-days-old", days * DAY)
    make(results, "a-profile", 5 * DAY, "profile.json")
    code, printed, _ = command("results", "prune", "--keep", "2", "--yes")
    assert (code, names(results)) == (0, {"1-days-old", "2-days-old"})
    assert printed.endswith("removed 3 folders\n")


def test_the_youngest_are_kept(command, results):
    for days in (1, 2, 3):
        make(results, f"{days}-days-old", days * DAY)
    command("results", "prune", "--older-than", "1.5", "--keep", "2", "--yes")
    assert names(results) == {"1-days-old", "2-days-old"}


def test_references_and_what_git_tracks_are_never_removed(command, results):
    make(results, "reference-2026-11-21-matrix")
    make(results, "committed")
    make(results, "own")
    for arguments in (["init", "--quiet"], ["add", "committed/run.json"]):
        subprocess.run(["git", *arguments], cwd=results, check=True)
    command("results", "prune", "--keep", "0", "--yes")
    assert names(results) == {"reference-2026-11-21-matrix", "committed", ".git"}


def test_where_git_does_not_answer_nothing_is_removed(command, results):
    make(results, "own")
    (results / ".git").write_text("nonsense")
    code, _, errors = command("results", "prune", "--keep", "0", "--yes")
    assert (code, names(results)) == (1, {"own", ".git"})
    assert "git does not say what" in errors
    assert errors.count("\n") == 1


def test_a_run_that_may_be_under_way_other_folders_and_links_stay(command, results, tmp_path):
    make(results, "under-way", HOUR / 2, text='{"ended": null}')
    make(results, "given-up", 2 * HOUR, text='{"ended": null}')
    make(results, "something-else", marker="notes.txt")
    elsewhere = make(tmp_path, "elsewhere")
    (results / "link").symlink_to(elsewhere)
    command("results", "prune", "--keep", "0", "--yes")
    assert names(results) == {"under-way", "something-else", "link"}
    assert elsewhere.exists()


def test_nothing_is_removed_without_a_yes(command, results):
    make(results, "own")
    code, printed, errors = command("results", "prune", "--keep", "0")
    assert (code, names(results)) == (1, {"own"})
    assert "own" in printed
    assert errors == "error: nothing was removed, for there is nobody to ask; --yes removes without asking\n"


def test_what_is_to_stay_must_be_said(command, results):
    make(results, "own")
    code, _, errors = command("results", "prune", "--yes")
    assert (code, names(results)) == (1, {"own"})
    assert errors.startswith("error: say what is to stay")


def test_nothing_to_remove_is_no_failure(command, results):
    assert command("results", "prune", "--keep", "3") == (0, "nothing to remove\n", "")
