import pytest

from loadtests.errors import UserError
from loadtests.plan import study
from loadtests.plan.concurrency import fitting
from loadtests.plan.schedule import schedule

SETUPS = ["base", "b", "c", "d", "e", "f"]


def a_study(blocks=2, **keys):
    test = {"kind": "latency", "path": "/", "rate": 1, "duration": "1s"}
    table = {"setups": SETUPS, "blocks": blocks, "tests": {"one": test, "two": test}, **keys}
    return study.parse(table, "s", "s.toml")


def by_block(given):
    blocks = {}
    for slot in schedule(given, seed=5):
        blocks.setdefault(slot.block, []).append((slot.label, slot.test))
    return blocks


def test_the_baseline_is_in_every_group_and_every_other_setup_in_one():
    blocks = by_block(a_study(at_once=3))
    assert len(blocks) == 2 * 3
    for places in blocks.values():
        assert sorted(place for place in places if place[0] == "base") == [("base", "one"), ("base", "two")]
        assert len({label for label, _ in places}) <= 3
    for first in (1, 4):  # three groups are one turn of all
        turn = [place for block in range(first, first + 3) for place in blocks[block] if place[0] != "base"]
        assert sorted(turn) == sorted((label, test) for label in SETUPS[1:] for test in ("one", "two"))


def test_the_second_turn_mirrors_the_first():
    blocks = by_block(a_study(at_once=3))
    assert [blocks[block][::-1] for block in (3, 2, 1)] == [blocks[block] for block in (4, 5, 6)]


def test_a_longer_study_begins_as_the_shorter_one():
    short, long = (schedule(a_study(blocks=blocks, at_once=3), seed=5) for blocks in (2, 4))
    assert long[: len(short)] == short


def test_a_test_that_is_not_interleaved_is_in_a_turn_once():
    search = {"kind": "capacity", "path": "/", "objective": "p99<50ms"}
    test = {"kind": "latency", "path": "/", "rate": 1, "duration": "1s"}
    slots = schedule(a_study(at_once=2, tests={"one": test, "capacity": search}), seed=5)
    assert len([slot for slot in slots if slot.test == "capacity"]) == 2 * len(SETUPS)
    assert len([slot for slot in slots if slot.label == "base" and slot.test == "one"]) == 2 * 5


def test_as_many_at_once_as_there_are_is_one_group():
    assert a_study(at_once=6) == a_study(at_once=60) == a_study()
    assert len(by_block(a_study(at_once=6))) == 2


@pytest.mark.parametrize("most", [1, 0, -3])
def test_fewer_than_two_at_once_are_not_compared(most):
    with pytest.raises(UserError, match=rf"s.toml: at_once: is {most}; a whole number of 2 or more is needed"):
        a_study(at_once=most)


def test_a_sweep_has_no_groups():
    table = {
        "sweep": {"setup": "gunicorn", "WORKERS": [1, 2]},
        "at_once": 2,
        "tests": {"throughput": {"duration": "1s"}},
    }
    with pytest.raises(UserError, match="at_once: is given in a sweep"):
        study.parse(table, "s", "s.toml")


def memory(each_mb=100.0, **others):
    return {**dict.fromkeys(SETUPS, each_mb), **others}


def test_all_run_at_once_where_memory_holds_them():
    assert fitting(a_study(), memory(), free_mb=1200) == a_study()


def test_as_many_run_at_once_as_half_of_the_free_memory_holds():
    assert fitting(a_study(), memory(), free_mb=1199) == a_study(at_once=5)
    assert fitting(a_study(), memory(), free_mb=600) == a_study(at_once=3)


def test_whichever_are_together_there_is_room_for_the_largest():
    assert fitting(a_study(), memory(e=300.0), free_mb=1000) == a_study(at_once=3)


def test_a_study_may_ask_for_fewer_at_once():
    assert fitting(a_study(at_once=2), memory(), free_mb=600) == a_study(at_once=2)


@pytest.mark.parametrize("free_mb", [0, 399])
def test_where_not_even_two_are_held_one_follows_the_other(free_mb):
    found = fitting(a_study(), memory(), free_mb)
    assert (found.interleave, found.at_once) == (False, 0)


def in_pairs():
    return a_study(setups=[*SETUPS, {"setup": "b", "label": "b2", "against": "b"}])


def test_setups_in_pairs_that_memory_does_not_hold_at_once_are_measured_one_after_the_other():
    fitted = fitting(in_pairs(), dict.fromkeys([*SETUPS, "b2"], 100.0), free_mb=800.0)
    assert not fitted.interleave
    assert len(by_block(fitted)) == 2


def test_a_study_of_pairs_cannot_say_how_many_run_at_once():
    with pytest.raises(UserError, match=r"s.toml: at_once: is given with setups that are compared in pairs"):
        a_study(at_once=3, setups=["base", {"setup": "b", "against": "base"}, "c", "d"])


def test_where_one_half_of_a_pair_is_left_out_the_other_is_compared_with_the_baseline():
    assert not in_pairs().only(["base", "b2"]).in_pairs
    assert in_pairs().only(["b", "b2"]).in_pairs
