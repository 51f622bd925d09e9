import csv
from pathlib import Path

import pytest

from tools.simulation.evaluate import main
from tools.simulation.studies import NOISES, Scenario, simulate, simulate_runs

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]

# 150 studies at a true rate of 5% give more than 9% once in fifty times; the seeds are fixed, so never by chance.
MOST_FALSE = 0.09


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("blocks", [5, 10])
def test_false_verdicts_are_rare(noise: str, blocks: int) -> None:
    rates = simulate(Scenario(noise, noise=noise, blocks=blocks), studies=150, seed=7)
    assert rates.false <= MOST_FALSE


@pytest.mark.parametrize(
    ("noise", "sd", "candidates"),
    [("normal", 0.04, 4), ("normal", 0.05, 1), ("heavy tails", 0.03, 4), ("one bad block", 0.03, 4)],
)
def test_ten_percent_are_found_in_ten_blocks(noise: str, sd: float, candidates: int) -> None:
    rates = simulate(Scenario(noise, 0.10, noise, sd=sd, candidates=candidates), studies=300, seed=7)
    assert rates.found >= 0.85
    assert rates.false <= MOST_FALSE


def test_many_candidates_at_once_keep_verdicts_true() -> None:
    assert simulate(Scenario("normal", candidates=16), studies=150, seed=7).false <= MOST_FALSE


def test_stopping_at_a_width_keeps_verdicts_true() -> None:
    for noise in ("normal", "heavy tails", "one noisy setup"):
        rates = simulate(Scenario("until", noise=noise, sd=0.02, until=0.05), studies=150, seed=7)
        assert rates.false <= MOST_FALSE
        assert rates.width <= 0.05


def test_two_runs_without_change_rarely_differ_significantly() -> None:
    rates = simulate_runs(Scenario("two runs", blocks=10), studies=100, seed=7)
    assert rates.false <= MOST_FALSE


def test_tables_are_written_and_repeatable(tmp_path: Path) -> None:
    lines: list[str] = []
    files = main(tmp_path / "a", repetitions=1, seed=1, say=lines.append)
    again = main(tmp_path / "b", repetitions=1, seed=1, say=lines.append)
    assert [file.read_text() for file in files] == [file.read_text() for file in again]
    assert 2 * len(lines) == len(files + again)
    verdicts, fragment = files[:2]
    with verdicts.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["blocks"] for row in rows} >= {"2", "5", "10", "20"}
    assert fragment.read_text().count("* -") == len(rows) + 1
