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
def test_what_is_old_is_served_at_home(name, why):
    [setup] = find([name])
    found = RemoteApplication.of(sample(), NothingMissing()).obstacle(setup)
    assert found is why is None or why in found
