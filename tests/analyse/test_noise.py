import pytest

from loadtests.analyse.noise import aa_report


def test_two_labels_of_one_setup_rarely_differ_significantly(study):
    report = aa_report(study({"gunicorn": 10.0, "gunicorn again": 10.0}, blocks=8))
    assert report.studies == 2**7
    assert report.false_share <= 0.05
    assert report.false_verdicts == []


def test_spread_is_that_of_the_ratios_and_many_blocks_draw_their_swaps(study):
    report = aa_report(study({"a": 10.0, "b": 10.0}, blocks=40, sd=0.02), studies=50)
    assert report.spread["latency", "p50_ms"] == pytest.approx(0.02 * 2**0.5, rel=0.3)
    assert report.studies == 50


def test_labels_that_do_differ_are_reported(study):
    report = aa_report(study({"a": 10.0, "b": 11.5}, sd=0.01, blocks=8))
    assert [one.candidate for one in report.false_verdicts] == ["b"]


def test_two_labels_are_needed(study):
    with pytest.raises(ValueError, match="needs figures of two labels of one setup; there are only those of a"):
        aa_report(study({"a": 10.0}))
