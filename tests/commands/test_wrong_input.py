"""Test that invalid input leads to a one-line error and a non-zero exit code."""

import pytest

URL = "http://127.0.0.1:1/"
ADVISE, CAPACITY, LOAD, PROFILE = ("advise", "gunicorn"), ("capacity", URL), ("load", URL), ("profile", "gunicorn")
RUN, SWEEP = ("run", "first-look"), ("run", "sweep")
LONG = "a" * 400


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "first-lok"), "unknown study 'first-lok'. Did you mean first-look?"),
        (("run",), "name a study, such as first-look (see `"),
        (("run", "--app", "/nothing"), "/nothing is not a folder"),
        (("run", "--resume", "nothing"), "nothing is not a run folder"),
        (("run", "--resume", "nothing", "--host-header", "a"), "--host-header only works with your own project. "),
        (("run", f"{LONG}.toml"), "the study file aaa"),
        ((*RUN, "--blocks", "0"), "--blocks 0: must be from 1 to 10,000"),
        (("run", "matrix", "--blocks", "10000"), " trials. A run can have at most 10,000"),
        ((*RUN, "--seed", "-1"), "--seed -1: must be from 0 to 4,294,967,295"),
        ((*RUN, "--precision", "2%", "--max-time", "1e9h"), "'1e9h' is not a duration"),
        ((*RUN, "--price", "0"), "--price 0: must be above 0"),
        ((*RUN, "--precision", ""), "the argument after --precision is empty. Pass a value, or leave out the argument"),
        ((*RUN, "--path", "/\r\n"), "--path: '/\\r\\n' must be percent-encoded"),
        *(((*RUN, "--rate", rate), ": must be from 0.1 to 1,000,000") for rate in ("0", "-1", "nan", "1e9")),
        ((*RUN, "--setups", "uvicron"), "unknown setup 'uvicron'. Did you mean uvicorn"),
        ((*RUN, "--setups", "gunicorn,"), "unknown setup ''. Choices are: "),
        ((*SWEEP, "--setups", "1w-1t"), "sweep is a sweep, which needs all of its cells"),
        ((*SWEEP, "--variant", "hopless", "--dry-run"), "--variant is for a study of several setups"),
        ((*RUN, "--minutes", "5", "--blocks", "3"), "--minutes and --b"),
        ((*RUN, "--minutes", "5", "--precision", "2%"), "--minutes and --precision both set the number of blocks. "),
        ((*RUN, "--minutes", "0.1"), "--minutes 0.1: 2 blocks of "),
        ((*RUN, "--minutes", "0.1", "--duplicate-baseline"), "--minutes 0.1: 2 blocks of "),
        (("run", "--duplicate-baseline", "--setups", "gunicorn", "--minutes", "0.1"), "--minutes 0.1: 2 blocks of "),
        ((*RUN, "--variant", ".."), "is a part of your project. Name the project with --app"),
        (("run", "--app", "docs/examples/chat", "--variant", "./docs"), "docs: there is no manage.py in this folder"),
        ((*RUN, "--variant", "gunicorn"), "variant gunicorn: write a package and its version (granian==2.7.9), "),
        (
            (*RUN, "--setups", "gunicorn", "--variant", "daphne==4.0"),
            "changes none of the setups: gunicorn: it doesn't use daphne",
        ),
        ((*RUN, "--variant", "python=3.99"), "python=3.99: python3.99 was not found. Install it, for example"),
        ((*RUN, "--variant", "a @ git+https://me:key@x.org/a"), "run.json would store the user or password"),
        ((*RUN, "--variant", "Django==6.1", "--servers", "ssh://x"), "which is only on this machine"),
        (("report", LONG), "is not a run folder (does not exist)"),
        (("report", ""), "the argument after report is empty"),
        (("check", "--app="), "the argument after --app is empty"),
        (("check", "daphne-icp"), "unknown setup 'daphne-icp'. Did you mean daphne-ipc"),
        (("serve", "gunicorn", "--wsgi", "a:b"), "--wsgi only works with your own project. Name its folder with --app"),
        (("doctor", "idel"), "unknown study 'idel'. Did you mean idle?"),
        (("workload", "har", "/dev/zero"), "/dev/zero: cannot be read: it is not a regular file"),
        (("workload", "log", "/dev/zero"), "/dev/zero: cannot be read: it is not a regular file"),
        ((*LOAD, "--workload", "/dev/zero"), "/dev/zero: cannot be read: it is not a regular"),
        ((*LOAD, "--body", "@/dev/zero"), "/dev/zero cannot be read: it is not a regular"),
        ((*LOAD, "--body", "", "--rate", "0"), "the rate must be over 0"),  # an empty body is valid
        ((*LOAD, "--duration", "fast"), "'fast' is not a duration. Write 10s"),
        ((*LOAD, "--engine", "openlop"), "unknown engine 'openlop'. Did you mean openloop?"),
        ((*LOAD, "--processes", "0"), "processes"),
        ((*LOAD, "--rate", "1", "--arrivals", "late"), "--arrivals 'late': must be random or even"),
        ((*LOAD, "--arrivals", "random"), "Add --rate"),
        (
            (*LOAD, "--method", "GE\nT"),
            "--method: must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, not 'GE\\nT'",
        ),
        ((*LOAD, "--size", "5"), "--size only works for WebSocket messages. Use a ws:// URL"),
        (("load", "ftp://127.0.0.1/"), "is not an HTTP URL"),
        (("load", "wss://127.0.0.1/"), "wss:// is not supported. Use the ws:// address of the server behind "),
        (("load", "ws://127.0.0.1/", "--body", "x"), "a ws:// URL receives messages. Leave out --method, --body and "),
        (("load", "ws://127.0.0.1/", "--size", "0"), "a payload must be from 1 to 1,000,000 bytes, not 0"),
        (("load", "ws://192.0.2.1/"), "192.0.2.1 is a different machine. If its owner agrees"),
        ((*CAPACITY, "--objective", "fast"), "objective: 'fast' is not a limit"),
        ((*CAPACITY, "--arrivals", "late"), "--arrivals 'late': must be random or even"),
        ((*CAPACITY, "--start-rate", "0"), "capacity: the start rate, 0, must be at least 1"),
        ((*CAPACITY, "--max-rate", "inf"), "the highest rate must be from 1 to 1,000,000, not inf"),
        ((*CAPACITY, "--max-time", "soon"), "'soon' is not a duration"),
        ((*CAPACITY, "--max-time", "10s"), "a probe at 100 requests/s and its confirmation take 40 s"),
        ((*CAPACITY, "--start-rate", "1"), "needs 1,000 requests per probe, which take over 600 s at 1 requests/s"),
        ((*CAPACITY, "--max-rate", "5", "--objective", "p99.9<1s"), "Start at 16.7 requests/s or more"),
        (("advise", "gunicron"), "unknown setup 'gunicron'. Did you mean gunicorn"),
        ((*ADVISE, "--rate", "nan"), "--rate nan: must be from 0.1 to 1,000,000"),
        ((*ADVISE, "--max-time", "1us"), "'1us' is not a duration"),
        (
            ("advise", "workers-and-threads", "--path", "/"),
            "--path can't be used with a study, which defines its own requests. Leave out --path",
        ),
        (
            ("advise", "workers-and-threads", "--rate", "10"),
            "--rate can't be used with a study, which defines its own requests. Leave out --rate",
        ),
        ((*PROFILE, "--rate", "0"), "--rate 0: must be above 0 and at most 1,000,000 requests per second"),
        ((*PROFILE, "--path", "/\r\n"), "--path: '/\\r\\n' must be percent-encoded"),
        ((*PROFILE, "--rounds", "0"), "--rounds 0: must be from 1 to 1,000"),
        ((*PROFILE, "--duration", "0.0001"), "must be between 1ms and a week"),
        ((*PROFILE, "--output", "."), ". already exists. Name another folder with --output"),
        (
            ("profile", "uvicorn", "--variant", "hopless", "--output", "both"),
            "--output is the folder of a single profile",
        ),
    ],
)
def test_invalid_input_is_refused(refused, arguments, says):
    assert says in refused(*arguments)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            (),
            "nothing can be compared. Name a second run, or at least two setups of this run: --setups gunicorn,daphne",
        ),
        (("--setups", "gunicorn"), "Name a second run, or at least two setups"),
        (("--setups", "gunicorn,uvicron"), "-first-look 'uvicron'. Did you mean uvicorn or gunicorn?"),
        (("nothing",), "nothing is not a run folder (does not exist)"),
        (("--setups", "gunicorn,daphne", "--fail-if", "slow"), "--fail-if: 'slow' is not a rule"),
        (("nothing", "--format", "bmf", "--json"), "--json and --format can't be combined. Leave one out"),
    ],
)
def test_invalid_comparison_is_refused(two, refused, arguments, says):
    assert says in refused("compare", two[0], *arguments)


@pytest.mark.parametrize(
    ("others", "named"),
    [
        *(
            ((option, "1"), option)
            for option in ("--seed", "--blocks", "--minutes", "--price", "--precision", "--max-time")
        ),
        *(((option, "1"), option) for option in ("--output", "--setups", "--path", "--workload", "--app")),
        *(((option,), option) for option in ("--duplicate-baseline", "--quick", "--dry-run")),
        (("first-look",), "the study"),
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
        (
            ("workload", "har", "x", "--max-requests", "501"),
            "'--max-requests': Input should be less than or equal to 500; ",
        ),
        (("workload", "har"), "Missing argument 'file'; "),
        (("run", "--blocks"), "Option '--blocks' requires an argument; "),
        (("run", "a", "b"), "unexpected extra argument(s) (b); "),
        (("run", "--stduy", "x"), "No such option: --stduy"),
        (("rnu",), "No such command 'rnu'"),
    ],
)
def test_usage_error_suggests_help(command, arguments, says):
    code, printed, errors = command(*arguments)
    assert (code, printed, errors.count("\n")) == (2, "", 1)
    assert errors.startswith("error: ")
    assert says in errors
    assert " --help` shows the usage\n" in errors
