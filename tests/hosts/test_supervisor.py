"""supervisord on this machine: what it says where it does not start."""

import pytest

from loadtests import hosts
from loadtests.errors import UserError


def test_what_it_said_is_told_and_its_folder_is_removed():
    supervised = hosts.at("local").supervise({"KEEP_ALIVE": "99"})
    with (
        pytest.raises(UserError, match=r"^supervisord did not start: defaults.sh: KEEP_ALIVE may be 1 to 60"),
        supervised,
    ):
        pass
    assert not supervised.folder.exists()
