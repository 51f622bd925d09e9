"""Test the order of trials, and the setups that run at the same time in a block."""

import dataclasses

import pytest

from loadtests.errors import UserError
from loadtests.plan import study
from loadtests.plan.concurrency import fitting
from loadtests.plan.schedule import schedule

SETUPS = ["base", "b", "c", "d", "e", "f"]
TEST = {"kind": "latency", "path": "/", "rate": 1, "duration": "1s"}


def a_study(blocks=2, **keys):
    table = {"setups": SETUPS, "blocks": blocks, "tests": {"one": TEST, "two": TEST}, **keys}
    return study.parse(table, "s", "s.toml")


def in_pairs(**keys):
    return a_study(setups=[*SETUPS, {"setup": "b", "label": "b2", "against": "b"}], **keys)


def by_block(given):
    blocks = {}
    for slot in schedule(given, seed=5):
        blocks.setdefault(slot.block, []).append((slot.label, slot.test))
    return blocks


def once_a_test(labels):
    return sorted((label, test) for label in labels for test in ("one", "two"))


def test_every_second_block_is_mirrored():
    blocks = by_block(a_study(3))
    assert [slot.number for slot in schedule(a_study(3), seed=5)] == list(range(1, 37))
    assert sorted(blocks[1]) == sorted(blocks[3]) == once_a_test(SETUPS)
    assert blocks[2] == blocks[1][::-1]


def test_seed_determines_the_order():
    orders = {tuple(slot.label for slot in schedule(a_study(), seed=seed)) for seed in range(20)}
    assert schedule(a_study(), seed=3) == schedule(a_study(), seed=3)
    assert len(orders) > 5


def test_setups_in_block_share_a_seed():
    moments = {}
    for seed in (1, 2):
        for slot in schedule(a_study(), seed):
            moments.setdefault((seed, slot.test, slot.block), set()).add(slot.load_seed(seed))
    assert {len(drawn) for drawn in moments.values()} == {1}
    assert len(set.union(*moments.values())) == 2 * 2 * 2


def test_baseline_is_in_every_group():
    blocks = by_block(a_study(at_once=3))
    assert len(blocks) == 2 * 3
    for places in blocks.values():
        assert sorted(place for place in places if place[0] == "base") == once_a_test(["base"])
        assert len({label for label, _ in places}) <= 3
    turn = [place for block in (1, 2, 3) for place in blocks[block] if place[0] != "base"]
    assert sorted(turn) == once_a_test(SETUPS[1:])
    assert [blocks[block][::-1] for block in (3, 2, 1)] == [blocks[block] for block in (4, 5, 6)]


def test_longer_study_extends_shorter_study():
    short, long = (schedule(a_study(blocks, at_once=3), seed=5) for blocks in (2, 4))
    assert long[: len(short)] == short
    assert a_study(at_once=6) == a_study(at_once=60) == a_study()


def test_uninterleaved_tests_run_in_turn():
    search = {"kind": "capacity", "path": "/", "objective": "p99<50ms"}
    slots = schedule(a_study(at_once=2, tests={"one": TEST, "capacity": search}), seed=5)
    assert len([slot for slot in slots if slot.test == "capacity"]) == 2 * len(SETUPS)
    assert len([slot for slot in slots if slot.label == "base" and slot.test == "one"]) == 2 * 5


SWEEP = {"sweep": {"setup": "gunicorn", "WORKERS": [1, 2]}, "tests": {"throughput": {"duration": "1s"}}}


@pytest.mark.parametrize(
    ("parse", "says"),
    [
        (lambda: a_study(at_once=1), "at_once: must be a whole number of 2 or more, not 1"),
        (lambda: in_pairs(at_once=3), "at_once: can't be combined with pairs"),
        (lambda: study.parse({**SWEEP, "at_once": 2}, "s", "s.toml"), "at_once: can't be used in a sweep"),
    ],
)
def test_invalid_group_size_is_refused(parse, says):
    with pytest.raises(UserError, match=f"^s.toml: {says}"):
        parse()


@pytest.mark.parametrize(
    ("keys", "needs_mb", "free_mb", "at_once"),
    [
        ({}, {}, 1200, 0),  # half of the free memory is enough for all setups
        ({}, {}, 1199, 5),
        ({}, {}, 600, 3),
        ({}, {"e": 300.0}, 1000, 3),  # every group has enough memory for the largest setup
        ({"at_once": 2}, {}, 600, 2),  # a study may set a smaller group
    ],
)
def test_half_of_memory_limits_group_size(keys, needs_mb, free_mb, at_once):
    fitted = fitting(a_study(**keys), {**dict.fromkeys(SETUPS, 100.0), **needs_mb}, free_mb)
    assert fitted == dataclasses.replace(a_study(), at_once=at_once)


@pytest.mark.parametrize(("given", "free_mb"), [(a_study(), 0), (a_study(), 399), (in_pairs(), 800)])
def test_small_memory_prevents_interleaving(given, free_mb):
    fitted = fitting(given, dict.fromkeys([*SETUPS, "b2"], 100.0), free_mb)
    assert (fitted.interleave, fitted.at_once, len(by_block(fitted))) == (False, 0, 2)


def test_incomplete_pair_uses_the_baseline():
    assert not in_pairs().only(["base", "b2"]).in_pairs
    assert in_pairs().only(["b", "b2"]).in_pairs
