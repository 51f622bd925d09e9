"""Test the sentence about a deployed command that is worse than the setup with the same server."""

import pytest

from loadtests.analyse.results import Results
from loadtests.plan.entries import Entry
from loadtests.records.run.run_record import SetupRecord
from loadtests.report import as_deployed, page
from tests.report.test_findings import CERTAIN, times

DEPLOYED = "gunicorn-gthread-Procfile"


@pytest.fixture
def results(build_run):
    def make(slower):
        labels = ("gunicorn-gthread", DEPLOYED)
        entries = (Entry(labels[0], labels[0], {}), Entry(DEPLOYED, labels[0], {}, "", ("/srv/Procfile",)))
        setups = {
            labels[0]: SetupRecord("Gunicorn", "wsgi", ""),
            DEPLOYED: SetupRecord("Gunicorn: as deployed", "wsgi", "gunicorn a.wsgi"),
        }
        change = times(gunicorn_gthread=1, gunicorn_gthread_Procfile=slower)
        shape = {"labels": labels, "change": change, **CERTAIN}
        return Results(build_run(**shape, study={"entries": entries}, record={"setups": setups}))

    return make


SAID = f"{DEPLOYED} is your deployed command: gunicorn a.wsgi."


def test_slower_command_is_compared(results):
    found = results(2)
    [sentence] = as_deployed.sentences(found)
    assert sentence.startswith(f"{SAID} Compared with gunicorn-gthread, it has 2.0× the response time. Try the options")
    assert sentence in page.compose(found).answer.notes


@pytest.mark.parametrize("slower", [0.5, 1])
def test_good_command_needs_no_advice(results, slower):
    assert list(as_deployed.sentences(results(slower))) == [SAID]
