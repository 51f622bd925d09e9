"""``advise`` on a machine that is too busy, and with what does not go together: one line, and how to go on."""

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
