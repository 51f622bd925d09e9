"""Test the sentence about a deployed command that is worse than the setup with the same server."""

import pytest

from loadtests.analyse.results import Results
from loadtests.plan.entries import Entry
from loadtests.records.run.run_record import SetupRecord
from loadtests.report import as_deployed, page
from tests.report.test_findings import CERTAIN, times

SETUP = """command=taskset -c %(ENV_BENCH_CORES)s gunicorn --config "%(here)s/../gunicorn.conf.py"
    --bind %(ENV_BENCH_BIND)s:%(ENV_BENCH_PORT)s --workers %(ENV_BENCH_WORKERS)s
    --worker-class gthread --threads %(ENV_BENCH_THREADS)s --keep-alive %(ENV_BENCH_KEEP_ALIVE)s
    --graceful-timeout 3 %(ENV_WSGI_APP)s
"""
DEPLOYED = "gunicorn-gthread-Procfile"


@pytest.fixture
def results(build_run):
    def make(command, slower=2):
        labels = ("gunicorn-gthread", DEPLOYED)
        entries = (
            Entry(labels[0], labels[0], {"THREADS": "4"}),
            Entry(DEPLOYED, labels[0], {}, "", ("/srv/Procfile",)),
        )
        setups = {
            labels[0]: SetupRecord("Gunicorn", "wsgi", SETUP),
            DEPLOYED: SetupRecord("Gunicorn: as deployed", "wsgi", command),
        }
        change = times(gunicorn_gthread=1, gunicorn_gthread_Procfile=slower)
        shape = {"labels": labels, "change": change, **CERTAIN}
        return Results(build_run(**shape, study={"entries": entries}, record={"setups": setups}))

    return make


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("gunicorn a.wsgi -w 3 -k gthread", "--workers 1 --threads 4 --keep-alive 60"),
        ("gunicorn a.wsgi; workers = 1; worker_class = 'gthread'; keepalive = 9", "--threads 4 --keep-alive 60"),
    ],
)
def test_missing_options_are_named(results, command, options):
    found = results(command)
    [sentence] = as_deployed.sentences(found)
    said = f"{DEPLOYED} is your deployed command: {command}. Compared with gunicorn-gthread, it has 2.0× the response"
    assert sentence == f"{said} time. This setup also has {options}. Try these options."
    assert sentence in page.compose(found).answer.notes


@pytest.mark.parametrize("slower", [0.5, 1])
def test_good_command_needs_no_advice(results, slower):
    said = list(as_deployed.sentences(results("gunicorn a.wsgi", slower)))
    assert said == [f"{DEPLOYED} is your deployed command: gunicorn a.wsgi."]
