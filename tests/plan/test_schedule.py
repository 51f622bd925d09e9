from loadtests.plan import study
from loadtests.plan.schedule import schedule


def a_study(blocks):
    table = {
        "setups": ["a", "b", "c"],
        "blocks": blocks,
        "tests": {"latency": {"rate": 1, "duration": "1s"}, "throughput": {"duration": "1s"}},
    }
    return study.parse(table, "s", "s.toml")


def test_each_block_has_every_setup_once_a_test():
    slots = schedule(a_study(3), seed=1)
    assert [slot.number for slot in slots] == list(range(1, 19))
    for block in (1, 2, 3):
        inside = sorted((slot.label, slot.test) for slot in slots if slot.block == block)
        assert inside == sorted((label, test) for label in "abc" for test in ("latency", "throughput"))


def test_the_second_block_mirrors_the_first():
    pairs = [(slot.label, slot.test) for slot in schedule(a_study(2), seed=7)]
    assert pairs[6:] == pairs[:6][::-1]


def test_a_seed_gives_one_order_and_seeds_give_different_ones():
    orders = {tuple(slot.label for slot in schedule(a_study(2), seed=seed)) for seed in range(20)}
    assert schedule(a_study(2), seed=3) == schedule(a_study(2), seed=3)
    assert len(orders) > 5
