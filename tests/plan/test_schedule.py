"""Test the order of trials, and the setups that run at the same time in a block."""

from loadtests.plan import study
from loadtests.plan.schedule import schedule

SETUPS = ["base", "b", "c", "d", "e", "f"]
TESTS = ("one", "two")
TEST = {"kind": "latency", "path": "/", "rate": 1, "duration": "1s"}


def a_study(blocks=2, setups=SETUPS):
    table = {"setups": setups, "blocks": blocks, "tests": dict.fromkeys(TESTS, TEST)}
    return study.parse(table, "s", "s.toml")


def test_every_second_block_is_mirrored():
    blocks = {}
    for slot in schedule(a_study(3), seed=5):
        blocks.setdefault(slot.block, []).append((slot.label, slot.test))
    assert sorted(blocks[1]) == sorted(blocks[3]) == sorted((label, test) for label in SETUPS for test in TESTS)
    assert blocks[2] == blocks[1][::-1]


def test_seed_determines_the_order():
    orders = {tuple(slot.label for slot in schedule(a_study(), seed=seed)) for seed in range(20)}
    short, long = (schedule(a_study(blocks), seed=3) for blocks in (2, 4))
    assert long[: len(short)] == short  # a run can add blocks
    assert len(orders) > 5


def test_setups_in_block_share_a_seed():
    moments = {}
    for seed in (1, 2):
        for slot in schedule(a_study(), seed):
            moments.setdefault((seed, slot.test, slot.block), set()).add(slot.load_seed(seed))
    assert {len(drawn) for drawn in moments.values()} == {1}
    assert len(set.union(*moments.values())) == 2 * 2 * 2


def test_small_memory_prevents_interleaving():
    assert a_study().within_memory(500, free_mb=1000) == a_study()
    assert not a_study().within_memory(501, free_mb=1000).interleave


def test_incomplete_pair_uses_the_baseline():
    pairs = a_study(setups=[*SETUPS, {"setup": "b", "label": "b2", "against": "b"}])
    assert not pairs.only(["base", "b2"]).in_pairs
    assert pairs.only(["b", "b2"]).in_pairs
