"""``advise`` on a machine that is too busy, and with what does not go together: one line, and how to go on."""

import pytest

from loadtests.measure import advise
from loadtests.measure.contention import TooBusy


def test_a_machine_that_is_too_busy_is_said_in_one_line_and_leaves_a_report(command, monkeypatch, bench_of, tmp_path):
    prepare, anyway = advise.prepare, []

    def spoil(search, execution, watcher):
        anyway.append(execution.anyway)
        raise TooBusy("4 trials in a row are invalid")

    monkeypatch.setattr(
        advise, "prepare", lambda *given, progress: prepare(*given, bench_of=bench_of, progress=progress)
    )
    monkeypatch.setattr(advise, "execute", spoil)
    for number, option in enumerate(((), ("--anyway",))):
        folder = tmp_path / f"run-{number}"
        code, _, errors = command("advise", "gunicorn", "--output", folder, *option)
        assert (code, errors) == (
            1,
            "error: 4 trials in a row are invalid; search anew once that has changed, or regardless: --anyway; "
            f"what was measured is in {folder}\n",
        )
        assert (folder / "index.rst").exists()
    assert anyway == [False, True]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("workers-and-threads", "--path", "/"), "a study says what is asked; --path goes with a setup"),
        (("workers-and-threads", "--rate", "10"), "a study says what is asked; --rate goes with a setup"),
        (("first-look",), "first-look is no sweep; a setup, or a study with a table [sweep], is needed"),
        (("sweep",), "sweep has 2 tests (latency and throughput); a search is decided by one"),
    ],
)
def test_a_study_that_cannot_be_searched_is_one_line(command, given, says):
    assert command("advise", *given) == (1, "", f"error: {says}\n")
