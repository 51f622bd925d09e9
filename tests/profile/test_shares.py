"""Test shares of CPU time with samples that can be counted by hand."""

from collections import Counter

import pytest

from loadtests.profile.profiling import speedscope
from loadtests.profile.shares import Role, side_by_side, table, wilson


@pytest.fixture
def role(stack):
    """Return a role that used 10 s of CPU time, and has 800 of the expected 1,000 samples."""

    def make(**values):
        counted = Counter({stack("run gunicorn/app.py"): 600, stack("run gunicorn/app.py", "page app:views.py"): 200})
        return Role("web", 0.01, **{"cpu_s": 10.0, "names": {"gunicorn"}, "stacks": counted, **values})

    return make


def sizes(role):
    return {share["category"]: share["share"] for share in role.to_dict(20_000)["shares"]}


def test_missing_samples_count_as_outside_python(role):
    assert sizes(role()) == {"server": 0.6, "view": 0.2, "outside Python": 0.2}
    assert sizes(role(stacks=Counter(), busy=False)) == {"outside Python": 1.0}  # the process doesn't run Python
    assert sizes(role(busy=False)) == {"server": 0.75, "view": 0.25}  # the timer misses sleeping threads
    about = role().to_dict(20_000)
    assert (about["samples"], about["expected"], about["cpu_us_per_request"]) == (800, 1000, pytest.approx(500.0))
    assert about["shares"][0]["us_per_request"] == pytest.approx(300.0)


def test_tables_show_time_by_category(role):
    shown = [[field.text for field in row] for row in table(role().to_dict(20_000)).rows]
    assert shown[0] == ["server", "60.0%", "56.9% to 63.0%", "300"]
    documents = [
        {"setup": "gunicorn", "roles": [role().to_dict(20_000)]},
        {"setup": "uvicorn", "roles": [role(busy=False).to_dict(10_000)]},
    ]
    both = side_by_side(documents)
    assert both.columns == ("", "gunicorn", "uvicorn")
    rows = {row[0].text: [field.text for field in row[1:]] for row in both.rows}
    assert rows == {
        "server": ["300", "750"],
        "view": ["100", "250"],
        "outside Python": ["100", "0"],
        "all": ["500", "1,000"],
    }


def test_flame_graph_contains_all_samples(role):
    drawn = speedscope([role()])
    assert drawn["shared"]["frames"] == [
        {"name": "run", "file": "gunicorn/app.py"},
        {"name": "page", "file": "views.py"},
    ]
    assert drawn["profiles"][0]["samples"] == [[0], [0, 1]]
    assert drawn["profiles"][0]["weights"] == [600, 200]


def test_wilson_interval_is_correct():
    assert wilson(0, 10) == pytest.approx((0.0, 0.278), abs=0.001)
    assert wilson(5, 10) == pytest.approx((0.237, 0.763), abs=0.001)
