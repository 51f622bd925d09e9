import pytest

from loadtests.measure import prepare as preparing
from loadtests.plan import study as studies


@pytest.fixture
def folder(tmp_path):
    """Return the folder of the run that ``prepare`` makes."""
    return tmp_path / "run"


@pytest.fixture
def prepare(tmp_path, folder, bench_of):
    """Return a function that makes the run folder of the study in a table.

    The study's files are in the test's folder.
    """

    def prepare(table, goal=None):
        study = studies.parse(table, "s", str(tmp_path / "s.toml"))
        return preparing.prepare(study, preparing.RunOptions(folder, 1, goal), bench_of)

    return prepare
