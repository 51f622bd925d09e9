"""A service that is waited for, as supervisord tells of it; none is started."""

import dataclasses
from pathlib import Path

import pytest

from loadtests import setups
from loadtests.hosts import Program
from loadtests.serve.serving import Serving
from loadtests.setups.application import sample

RUNNING = Program("datastore", 7, "RUNNING", 0)


class Told:
    """A supervisord that says what it is told to say, and in whose folder there are some files."""

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
    told = Told(program, files)
    assert (
        Serving(setup, ["datastore"], {"datastore"}, sample(), None, told, ("127.0.0.1", 1), 1).unready_service()
        == awaited
    )
