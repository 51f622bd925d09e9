import pytest

from loadtests.measure import prepare as preparing
from loadtests.plan import study as studies


@pytest.fixture
def folder(tmp_path):
    """That of the run that ``prepare`` makes."""
    return tmp_path / "run"


@pytest.fixture
def prepare(tmp_path, folder, bench_of):
    """A function: makes the run folder of the study in a table, whose files are in the test's own folder."""

    def prepare(table, goal=None):
        study = studies.parse(table, "s", str(tmp_path / "s.toml"))
        return preparing.prepare(study, preparing.RunOptions(folder, 1, goal), bench_of)

    return prepare
