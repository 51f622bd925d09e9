from loadtests.observe.conditions import Conditions, Moment, between, interrupts_s, now, together


def a_moment(**changes):
    values = {"monotonic_s": 10.0, "wall_s": 1000.0, "cores_busy_s": 50.0, "swapped_pages": 3, "mhz": None}
    return Moment(**{**values, **changes})


def test_what_others_took_is_what_the_setup_did_not_use():
    later = a_moment(monotonic_s=20.0, wall_s=1010.0, cores_busy_s=66.0)
    found = between(a_moment(), later, [0, 1], own_cpu_s=12.0)
    assert (found.other_load, found.clock_jump_s, found.swapped_pages) == ((16.0 - 12.0) / (10.0 * 2), 0, 0)
    later = a_moment(monotonic_s=20.0, wall_s=1012.5, swapped_pages=10)  # and the clock jumped
    found = between(a_moment(), later, [0], own_cpu_s=1.0)
    assert (found.clock_jump_s, found.swapped_pages, found.other_load) == (2.5, 7, 0.0)


def test_several_stretches_count_by_how_long_they_were():
    short = Conditions(elapsed_s=1.0, clock_jump_s=0.1, other_load=0.5, swapped_pages=1, mhz=None)
    long = Conditions(elapsed_s=9.0, clock_jump_s=-0.2, other_load=0.1, swapped_pages=2, mhz=2000.0)
    both = together([short, long])
    assert (both.elapsed_s, both.clock_jump_s, both.swapped_pages, both.mhz) == (10.0, -0.2, 3, 2000.0)
    assert abs(both.other_load - 0.14) < 1e-9


def test_the_machine_can_be_read():
    first, last = now([0]), now([0])
    assert last.monotonic_s >= first.monotonic_s
    assert last.cores_busy_s >= first.cores_busy_s > 0
    assert 0 <= interrupts_s([0]) <= now([0]).cores_busy_s
