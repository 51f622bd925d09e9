import pytest

from loadtests.plan.percentiles import knowable, requests_needed


@pytest.mark.parametrize(("percentile", "needed"), [(50, 20), (90, 100), (99, 1000), (99.9, 10_000), (99.99, 100_000)])
def test_ten_requests_are_needed_in_the_tail(percentile: float, needed: int) -> None:
    assert requests_needed(percentile) == needed
    assert knowable(percentile, needed)
    assert not knowable(percentile, needed - 1)


def test_no_percentile_over_a_hundred() -> None:
    with pytest.raises(ValueError, match="between 0 and 100"):
        requests_needed(100)
