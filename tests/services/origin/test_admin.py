"""Test an origin's admin interface below /_admin/, and its documentation."""

import json
import re

import pytest

from loadtests.files import ROOT
from loadtests.services.origin import admin, recipes
from loadtests.services.origin.counts import Counts
from loadtests.services.origin.player import Fate
from loadtests.services.origin.recipes import MAX_RECIPE_BYTES

RECIPE = {
    "route": "/news",
    "body": "fine",
    "stages": [{"at": 0, "status": 503, "latency": "1000ms..1500ms"}, {"at": "10s", "latency": "1s"}],
}
EVERYTHING = {"stages": [{"at": 0}]}


@pytest.fixture
def answers(ask):
    """Return a function that returns the statuses and bodies of the answers to requests."""

    def answers(recipes, *requests):
        return [(status, body.decode()) for status, _, body in ask(recipes, *requests)]

    return answers


def adding(recipe):
    """Return a request that adds a recipe. The recipe may be invalid bytes."""
    return ("/_admin/add_recipe", "POST", "", recipe if isinstance(recipe, bytes) else json.dumps(recipe).encode())


def test_restart_removes_an_added_recipe(answers):
    added, news, restarted, recipes, counts = answers(
        EVERYTHING,
        adding({**RECIPE, "stages": [{"at": 0, "status": 201}]}),
        ("/news",),
        ("/_admin/restart", "POST"),
        ("/_admin/current_recipe",),
        ("/_admin/current_count",),
    )
    assert (added[0], [one.get("route") for one in json.loads(added[1])]) == (201, [None, "/news"])
    assert (news, restarted, json.loads(recipes[1])) == ((201, "fine"), (200, "ok!"), [EVERYTHING])
    assert json.loads(counts[1])["total_requests"] == 0


def test_missing_recipe_has_a_remedy(answers):
    before, recipes = answers(None, ("/news",), ("/_admin/current_recipe",))
    assert before == (406, "there is no recipe for /news; POST a recipe to /_admin/add_recipe")
    assert recipes == (200, "[]")


LARGE = [{"route": f"/{number}", "random_content": "40mb", "stages": [{"at": 0}]} for number in range(2)]
LONG = {"stages": [{"at": 0}], "body": "a" * MAX_RECIPE_BYTES}


@pytest.mark.parametrize(
    ("recipe", "status", "says"),
    [
        (b"", 400, "add_recipe: not valid JSON: "),
        ({}, 400, "add_recipe: stages: is missing. It must be a list that is not empty"),
        (
            [EVERYTHING, {"stages": [{"at": "-1s"}]}],
            400,
            "add_recipe: recipes[2].stages[1].at: must be a time of 0 or more, not '-1s'",
        ),
        (LARGE, 400, "the bodies together: 80 MB; at most 64 MB are allowed (bodies are kept in memory)"),
        (LONG, 413, "a recipe can have at most 0.5 MB; write a large body as its size: <<20mb>>"),
    ],
    ids=["no JSON", "no recipe", "the second", "too much together", "long to read"],
)
def test_wrong_recipe_changes_nothing(answers, recipe, status, says):
    wrong, recipes = answers(RECIPE, adding(recipe), ("/_admin/current_recipe",))
    assert wrong[0] == status
    assert wrong[1].startswith(says)
    assert "\n" not in wrong[1]
    assert json.loads(recipes[1]) == [RECIPE]


def test_unknown_or_wrong_requests_are_refused(answers):
    unknown, posted, gotten = answers(
        EVERYTHING, ("/_admin/nothing",), ("/_admin/current_count", "POST"), ("/_admin/add_recipe",)
    )
    assert unknown == (404, "unknown. Allowed: current_recipe, current_count, add_recipe, restart")
    assert (posted, gotten) == ((405, "current_count only allows GET or HEAD"), (405, "add_recipe only allows POST"))


def test_admin_requests_are_not_counted(answers):
    _, counts = answers(EVERYTHING, ("/_admin/current_recipe",), ("/_admin/current_count",))
    found = json.loads(counts[1])
    assert (found["total_requests"], found["connections_opened"], found["connections_open"]) == (0, 0, 0)


PAGES = [
    "Origin: http://evil.example",
    "Origin: null",
    "Sec-Fetch-Site: cross-site",
    "Sec-Fetch-Site: same-site",
    "Host: evil.example:8100",
    "Host: 127.0.0.1.evil.example",
]


@pytest.mark.parametrize("header", PAGES)
def test_web_page_has_no_access(answers, header):
    header = f"{header}\r\n"
    refused = [
        ("/_admin/restart", "POST", header),
        ("/_admin/add_recipe", "POST", header, json.dumps(RECIPE).encode()),
        ("/_admin/current_recipe", "GET", header),
    ]
    others = [("/_admin/current_recipe",), ("/", "GET", header), ("/_admin/current_count",)]
    _, *found, recipes, played, counts = answers(EVERYTHING, ("/",), *refused, *others)
    assert [(status, text[:19]) for status, text in found] == [(403, "the admin interface")] * 3
    assert (json.loads(recipes[1]), played[0], json.loads(counts[1])["total_requests"]) == ([EVERYTHING], 200, 2)


@pytest.mark.parametrize("host", ["localhost:8100", "LocalHost", "127.0.0.1:8100"])
def test_browser_address_bar_has_access(answers, host):
    header = f"Host: {host}\r\nSec-Fetch-Site: none\r\n"
    assert answers(EVERYTHING, ("/_admin/restart", "GET", header)) == [(200, "ok!")]


def test_admin_interface_is_documented():
    page = (ROOT / "docs" / "slow-origin.rst").read_text(encoding="utf-8").partition(".. _page-origin:")[2]
    _, _, counts = page.partition("``current_count`` contains:")
    requests = set(re.findall(r"``(?:GET|POST)(?:`` or ``POST)? /_admin/([a-z_]+)``", page))
    assert requests == {*admin.QUERIES, *admin.COMMANDS}
    terms = set(re.findall(r"``([^`]+)``", " ".join(re.findall(r"^``.*``$", counts, flags=re.MULTILINE))))
    assert terms == set(Counts(lambda: 0.0).totals())
    assert [fate for fate in Fate if f"``{fate.value}``" not in page] == []
    assert f"included recipes: {', '.join(recipes.names())}" in page
