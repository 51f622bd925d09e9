"""The sample project on another host."""

import pytest

from loadtests.setups import find
from loadtests.setups.application import sample
from loadtests.setups.application.remote_application import RemoteApplication


class NothingMissing:
    def missing_for(self, setup):
        return None

    def prepare_sample(self):
        raise AssertionError


@pytest.mark.parametrize(("name", "why"), [("gunicorn", None), ("2016-gunicorn", "on its own machine alone")])
def test_an_old_stack_is_not_served_on_another_host(name, why):
    [setup] = find([name])
    found = RemoteApplication.of(sample(), NothingMissing()).obstacle(setup)
    assert found is why is None or why in found
