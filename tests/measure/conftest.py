import pytest

from loadtests.measure import prepare as preparing
from loadtests.plan import study as studies


@pytest.fixture
def folder(tmp_path):
    """Return the run folder that ``prepare`` creates."""
    return tmp_path / "run"


@pytest.fixture
def prepare(tmp_path, folder, bench_of):
    """Return a function that creates the run folder for a study. The function's argument is the study's table.

    Relative paths in the study refer to the test's folder.
    """

    def prepare(table, goal=None):
        study = studies.parse(table, "s", str(tmp_path / "s.toml"))
        return preparing.prepare(study, preparing.RunOptions(folder, 1, goal), bench_of)

    return prepare
