"""``run``: what its options may not say together. That it runs is told in tests/measure."""

import pytest

ALONE = "--resume goes on with a run as it was begun: it takes no study and no option but --anyway; leave out "


@pytest.mark.parametrize(
    ("others", "named"),
    [
        (["first-look"], "the study"),
        (["--seed", "0"], "--seed"),
        (["--blocks", "0"], "--blocks"),
        (["--price", "0"], "--price"),
        (["--until", ""], "--until"),
        (["--max-time", ""], "--max-time"),
        (["--output", "."], "--output"),
        (["--aa"], "--aa"),
        (["--quick"], "--quick"),
        (["--setups", ""], "--setups"),
        (["--dry-run"], "--dry-run"),
        (["--path", ""], "--path"),
        (["--workload", "mix.toml"], "--workload"),
        (["--app", "."], "--app"),
        (["--app", ".", "--wsgi", ""], "--app and --wsgi"),
        (["--seed", "0", "--blocks", "3", "--quick"], "--seed, --blocks and --quick"),
    ],
)
def test_a_resumed_run_takes_nothing_else(command, others, named):
    assert command("run", "--resume", "somewhere", *others) == (1, "", f"error: {ALONE}{named}\n")


def test_options_of_a_project_need_a_project(command):
    code, _, errors = command("run", "--resume", "somewhere", "--host-header", "")
    assert (code, errors) == (1, "error: --host-header is for a project of your own; name its folder: --app\n")
