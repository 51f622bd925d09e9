"""Test that invalid input leads to a one-line error and a non-zero exit code."""

import pytest

URL = "http://127.0.0.1:1/"
CAPACITY, LOAD, PROFILE = ("capacity", URL), ("load", URL), ("profile", "gunicorn")
RUN, SWEEP = ("run", "first-look"), ("run", "sweep")
LONG = "a" * 400


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "first-lok"), "unknown study 'first-lok'. Did you mean first-look?"),
        (("run",), "name a study, such as first-look (see `"),
        (("run", "--app", "/nothing"), "/nothing is not a folder"),
        (("run", "--resume", "nothing"), "nothing is not a run folder"),
        ((*RUN, "--blocks", "0"), "--blocks 0: must be from 1 to 10,000"),
        (("run", "matrix", "--blocks", "10000"), " trials. A run can have at most 10,000"),
        ((*RUN, "--precision", "2%", "--max-time", "1e9h"), "'1e9h' is not a duration"),
        ((*RUN, "--path", "/\r\n"), "--path: '/\\r\\n' must be percent-encoded"),
        *(((*RUN, "--rate", rate), ": must be from 0.1 to 1,000,000") for rate in ("0", "-1", "nan", "1e9")),
        ((*RUN, "--setups", "uvicron"), "unknown setup 'uvicron'. Did you mean uvicorn"),
        ((*SWEEP, "--setups", "gunicorn,granian"), "sweep is a sweep of a single setup"),
        ((*SWEEP, "--variant", "hopless", "--dry-run"), "sweep is a sweep of one setup. Use --variant only with"),
        ((*RUN, "--variant", ".."), "is a part of your project. Name the project with --app"),
        (
            (*RUN, "--setups", "gunicorn", "--variant", "daphne==4.0"),
            "changes none of the setups: gunicorn: it doesn't use daphne",
        ),
        ((*RUN, "--variant", "python=3.99"), "python=3.99: python3.99 was not found. Install it, for example"),
        ((*RUN, "--variant", "a @ git+https://me:key@x.org/a"), "run.json would store the user or password"),
        (("report", LONG), "is not a run folder (does not exist)"),
        (("serve", "gunicorn", "--wsgi", "a:b"), "--wsgi only works with your own project. Name its folder with --app"),
        (("workload", "har", "/dev/zero"), "/dev/zero: cannot be read: it is not a regular file"),
        ((*LOAD, "--body", "", "--rate", "0"), "the rate must be over 0"),  # an empty body is valid
        ((*LOAD, "--duration", "fast"), "'fast' is not a duration. Write 10s"),
        (("load", "ws://127.0.0.1/"), "is not an HTTP URL. Write a URL such as http://127.0.0.1:8000/"),
        ((*CAPACITY, "--objective", "fast"), "objective: 'fast' is not a valid limit"),
        ((*CAPACITY, "--max-rate", "inf"), "max_rate: must be from 1 to 1,000,000, not inf"),
        ((*CAPACITY, "--max-rate", "5", "--objective", "p99.9<1s"), "needs at least 16.7 requests/s"),
        ((*PROFILE, "--duration", "0.0001"), "must be between 1ms and a week"),
    ],
)
def test_invalid_input_is_refused(refused, arguments, says):
    assert says in refused(*arguments)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--setups", "gunicorn"), "Name a second run, or at least two setups"),
        (("--setups", "gunicorn,uvicron"), "-first-look 'uvicron'. Did you mean uvicorn or gunicorn?"),
        (("nothing",), "nothing is not a run folder (does not exist)"),
        (("--setups", "gunicorn,daphne", "--fail-if", "slow"), "--fail-if: 'slow' is not a rule"),
        (("nothing", "--markdown", "--json"), "--json and --markdown can't be combined. Leave one out"),
    ],
)
def test_invalid_comparison_is_refused(two, refused, arguments, says):
    assert says in refused("compare", two[0], *arguments)


@pytest.mark.parametrize(
    ("others", "named"),
    [
        *(((option, "1"), option) for option in ("--seed", "--blocks", "--precision", "--max-time")),
        *(((option, "1"), option) for option in ("--output", "--setups", "--path", "--workload", "--app")),
        *(((option,), option) for option in ("--duplicate-baseline", "--quick", "--dry-run")),
        (("--app", ".", "--wsgi", "a:b"), "--app and --wsgi"),
        (("--seed", "0", "--blocks", "3", "--quick"), "--seed, --blocks and --quick"),
    ],
)
def test_resume_refuses_other_options(refused, others, named):
    alone = "--resume continues a run without changes and can only be combined with --ignore-busy"
    assert refused("run", "--resume", "somewhere", *others) == f"error: {alone}. Leave out {named}\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("workload", "har"), "Missing argument 'file'; "),
        (("run", "--blocks"), "Option '--blocks' requires an argument; "),
        (("rnu",), "No such command 'rnu'"),
    ],
)
def test_usage_error_suggests_help(command, arguments, says):
    code, printed, errors = command(*arguments)
    assert (code, printed, errors.count("\n")) == (2, "", 1)
    assert errors.startswith("error: ")
    assert says in errors
    assert " --help` shows the usage\n" in errors
