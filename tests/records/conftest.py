import pytest

from loadtests.measure.prepare import RunOptions, prepare
from loadtests.plan import study as studies
from tests.fixtures.studies import SMALL


@pytest.fixture
def run(tmp_path, bench_of):
    """A run folder as it is before the first trial."""
    return prepare(studies.parse(SMALL, "small", "small.toml"), RunOptions(tmp_path / "r", 1), bench_of).run
