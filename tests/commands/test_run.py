"""``run``: what its options may not say together. That it runs is tested in tests/measure."""

import re

import pytest

ALONE = "--resume goes on with a run as it was begun: it takes no study and no option but --anyway; leave out "


@pytest.mark.parametrize(
    ("others", "named"),
    [
        (["first-look"], "the study"),
        (["--seed", "0"], "--seed"),
        (["--blocks", "0"], "--blocks"),
        (["--minutes", "0"], "--minutes"),
        (["--price", "0"], "--price"),
        (["--until", "2%"], "--until"),
        (["--max-time", "1h"], "--max-time"),
        (["--output", "."], "--output"),
        (["--aa"], "--aa"),
        (["--quick"], "--quick"),
        (["--setups", "uvicorn"], "--setups"),
        (["--dry-run"], "--dry-run"),
        (["--path", "/"], "--path"),
        (["--workload", "mix.toml"], "--workload"),
        (["--app", "."], "--app"),
        (["--app", ".", "--wsgi", "a:b"], "--app and --wsgi"),
        (["--seed", "0", "--blocks", "3", "--quick"], "--seed, --blocks and --quick"),
    ],
)
def test_a_resumed_run_takes_nothing_else(command, others, named):
    assert command("run", "--resume", "somewhere", *others) == (1, "", f"error: {ALONE}{named}\n")


def test_options_of_a_project_need_a_project(command):
    code, _, errors = command("run", "--resume", "somewhere", "--host-header", "a")
    assert (code, errors) == (1, "error: --host-header is for a project of your own; name its folder: --app\n")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["run", "first-look", "--minutes", "5", "--blocks", "3"], "--blocks"),
        (["run", "first-look", "--minutes", "5", "--until", "2%"], "--until"),
    ],
)
def test_one_option_says_how_many_blocks_there_are(refused, given, named):
    errors = refused(*given)
    assert errors == f"error: --minutes says how many blocks there are, and so does {named}; leave one out\n"


@pytest.mark.parametrize(
    "given", [["run", "first-look"], ["run", "first-look", "--aa"], ["run", "--aa", "--setups", "gunicorn"]]
)
def test_too_few_minutes_get_one_line(refused, given):
    errors = refused(*given, "--minutes", "0.1")
    assert errors.startswith("error: --minutes 0.1: 2 blocks of ")


def test_a_setup_is_measured_with_and_without_hopless(command):
    code, printed, errors = command("run", "first-look", "--setups", "uvicorn,uvicorn-hopless", "--dry-run")
    assert (code, errors) == (0, "")
    assert "uvicorn-hopless" in printed
    assert "gunicorn" not in printed


def test_with_hopless_each_asgi_setup_comes_twice_and_wsgi_says_why_it_cannot(command):
    code, printed, _ = command("run", "--app", "docs/examples/chat", "--hopless", "--dry-run")
    assert code == 0
    assert all(f"\n{name}-hopless  " in printed for name in ("uvicorn", "granian-asgi", "daphne"))
    assert "gunicorn-hopless: hopless is for ASGI, and it is served otherwise" in printed
    assert "gunicorn-again-hopless" not in printed


def test_a_change_is_measured_side_by_side_with_its_base(command, tmp_path):
    example = "docs/examples/chat"
    code, printed, errors = command(
        "run", "--app", example, "--base", example, "--setups", "gunicorn,uvicorn", "--hopless", "--dry-run"
    )
    assert (code, errors) == (0, "")
    assert re.search(r"\ngunicorn-base +Gunicorn, base, the baseline", printed)
    assert all(f"\n{name}-base  " in printed for name in ("uvicorn", "uvicorn-hopless"))
    assert "-again" not in printed
    assert "-own-project-base" in printed
    code, _, errors = command("run", "--app", example, "--base", tmp_path, "--dry-run")
    assert (code, errors) == (
        1,
        f"error: {tmp_path}: there is no manage.py in it; nor is it one folder below: name the folder that has it\n",
    )
    code, _, errors = command("run", "first-look", "--base", example, "--dry-run")
    assert (code, errors) == (1, "error: --base is for a project of your own; name its folder: --app\n")
    assert command("run", "sweep", "--app", example, "--base", example, "--dry-run")[0] == 1


def test_a_study_that_has_hopless_already_gets_it_once(command):
    assert command("run", "channels-hops", "--hopless", "--dry-run") == command("run", "channels-hops", "--dry-run")
    code, _, errors = command("run", "sweep", "--hopless", "--dry-run")
    assert (code, errors.count("\n")) == (1, 1)
    assert "is another" in errors


def test_a_setup_against_itself_is_a_study_of_its_own_name(command):
    code, printed, _ = command("run", "--aa", "--setups", "gunicorn", "--dry-run")
    assert code == 0
    assert printed.startswith("gunicorn against itself\n12 trials in 3 blocks")
    assert "-aa-gunicorn" in printed


def test_minutes_say_how_many_blocks_there_are(command):
    _, printed, _ = command("run", "first-look", "--setups", "gunicorn,uvicorn", "--minutes", "4", "--dry-run")
    found = re.search(r"trials in (\d+) blocks, about ([0-9.]+) minutes", printed)
    assert int(found[1]) > 2
    assert float(found[2]) <= 4.0
