"""Which services are waited for, by the state that supervisord reports; none is started."""

import dataclasses
from pathlib import Path

import pytest

from loadtests import setups
from loadtests.hosts import Program
from loadtests.serve.serving import Serving
from loadtests.setups.application import sample

RUNNING = Program("datastore", 7, "RUNNING", 0)


class ReportedState:
    """A supervisord that reports one program, and some files in its folder."""

    folder = Path("/nowhere")

    def __init__(self, program, files=()):
        self.program, self.files = program, files

    def programs(self, group):
        return [self.program]

    def has(self, file):
        return file in self.files


@pytest.mark.parametrize(
    ("program", "files", "awaited"),
    [
        (RUNNING, (), "datastore"),
        (RUNNING, ("datastore.http",), None),
        (dataclasses.replace(RUNNING, state="EXITED"), (), None),  # another is named, and this one has nothing to do
        (dataclasses.replace(RUNNING, state="EXITED", exit_status=69), (), "datastore"),  # just now: it is seen next
        (dataclasses.replace(RUNNING, state="STARTING"), (), "datastore"),
    ],
)
def test_only_one_that_has_ended_well_is_not_waited_for(program, files, awaited):
    [setup] = setups.find(["gunicorn-gthread"])
    supervised = ReportedState(program, files)
    running = Serving(setup, ["datastore"], {"datastore"}, sample(), None, supervised, ("127.0.0.1", 1), 1)
    assert running.unready_service() == awaited
