"""What an origin answers below /_admin/."""

import json

import pytest

from loadtests.services.origin.recipes import MOST_RECIPE_BYTES

RECIPE = {
    "route": "/news",
    "body": "fine",
    "stages": [{"at": 0, "status": 503, "latency": "1000ms..1500ms"}, {"at": "10s", "latency": "1s"}],
}
EVERYTHING = {"stages": [{"at": 0}]}


def answers(play, recipes, *requests):
    """The statuses and bodies of the answers to some requests: path, method and body."""

    async def talk(origin):
        async with origin.client() as client:
            return [await client.ask(path, *more[:1], body=more[1] if more[1:] else b"") for path, *more in requests]

    return [(status, body.decode()) for status, _, body in play(recipes, talk)]


def test_it_says_that_it_is_there_and_what_it_plays(play):
    found = answers(
        play,
        [RECIPE, EVERYTHING],
        *[(f"/_admin/{what}",) for what in ("status", "routes", "routes_status", "current_recipe")],
    )
    assert found[:3] == [(200, "ok!"), (200, "/*\n/news"), (200, "/* 200 0\n/news 503 1000..1500")]
    assert json.loads(found[3][1]) == [RECIPE, EVERYTHING]


def test_a_recipe_can_be_added_and_a_restart_takes_it_away(play):
    added, news, _, restarted, routes = answers(
        play,
        [EVERYTHING],
        ("/_admin/add_recipe", "POST", json.dumps({**RECIPE, "stages": [{"at": 0, "status": 201}]}).encode()),
        ("/news",),
        ("/_admin/current_count",),
        ("/_admin/restart", "POST"),
        ("/_admin/routes",),
    )
    assert (added[0], [one.get("route") for one in json.loads(added[1])]) == (201, [None, "/news"])
    assert news == (201, "fine")
    assert (restarted, routes) == ((200, "ok!"), (200, "/*"))


def test_a_restart_counts_anew(play):
    _, _, counts = answers(play, EVERYTHING, ("/",), ("/_admin/restart",), ("/_admin/current_count",))
    assert json.loads(counts[1])["total_requests"] == 0


def test_without_a_recipe_it_says_what_to_do(play):
    before, routes, recipes = answers(play, None, ("/news",), ("/_admin/routes",), ("/_admin/current_recipe",))
    assert before == (406, "there is no recipe for /news; POST one to /_admin/add_recipe")
    assert (routes, recipes) == ((200, ""), (200, "[]"))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "add_recipe: not valid JSON: "),
        (b"{}", "add_recipe: stages: is missing; a list that is not empty"),
        (b'[{"stages": [{"at": 0}]}, {"stages": [{"at": "-1s"}]}]', "add_recipe: recipes[2].stages[1].at: is '-1s'"),
        (b'{"random_content": "1024mb", "stages": [{"at": 0}]}', "add_recipe: random_content: 1,024 MB"),
    ],
)
def test_a_wrong_recipe_is_one_line_and_changes_nothing(play, body, says):
    wrong, routes = answers(play, RECIPE, ("/_admin/add_recipe", "POST", body), ("/_admin/routes",))
    assert wrong[0] == 400
    assert wrong[1].startswith(says)
    assert "\n" not in wrong[1]
    assert routes == (200, "/news")


def test_bodies_are_bounded_together(play):
    large = [{"route": f"/{number}", "random_content": "40mb", "stages": [{"at": 0}]} for number in range(2)]
    [wrong] = answers(play, RECIPE, ("/_admin/add_recipe", "POST", json.dumps(large).encode()))
    assert wrong == (400, "the bodies together: 80 MB; at most 64 MB are allowed (they are held in memory)")


def test_what_is_not_there_and_what_is_asked_wrongly(play):
    unknown, posted, gotten = answers(
        play, EVERYTHING, ("/_admin/nothing",), ("/_admin/status", "POST"), ("/_admin/add_recipe",)
    )
    assert unknown == (
        404,
        "there is: status, current_recipe, routes, routes_status, current_count, seconds, add_recipe, restart",
    )
    assert posted == (405, "status takes GET or HEAD")
    assert gotten == (405, "add_recipe takes POST")


def test_who_only_looks_is_not_counted(play):
    counts, seconds = answers(play, EVERYTHING, ("/_admin/current_count",), ("/_admin/seconds",))
    found = json.loads(counts[1])
    assert (found["total_requests"], found["connections_opened"], found["connections_open"]) == (0, 0, 0)
    assert json.loads(seconds[1]) == []


PAGES = [
    "Origin: http://evil.example\r\n",
    "Origin: null\r\n",
    "Sec-Fetch-Site: cross-site\r\n",
    "Sec-Fetch-Site: same-site\r\n",
    "Host: evil.example:8100\r\n",
    "Host: 127.0.0.1.evil.example\r\n",
]


@pytest.mark.parametrize("headers", PAGES)
@pytest.mark.parametrize("path", ["/_admin/restart", "/_admin/add_recipe", "/_admin/current_recipe"])
def test_a_web_page_can_tell_it_nothing_and_read_nothing(play, path, headers):
    async def talk(origin):
        async with origin.client() as client:
            method = "GET" if path.endswith("current_recipe") else "POST"
            await client.ask("/")
            refused = await client.ask(path, method, headers, json.dumps(RECIPE).encode())
            others = await client.ask("/_admin/routes"), await client.ask("/", headers=headers)
            return refused, *others, await origin.counts()

    (status, _, words), (_, _, routes), (played, _, _), counts = play(EVERYTHING, talk)
    assert (status, words[:9]) == (403, b"web pages")
    assert (routes, played, counts["total_requests"]) == (b"/*", 200, 2)


@pytest.mark.parametrize("host", ["localhost:8100", "LocalHost", "127.0.0.1:8100"])
def test_a_person_may_ask_with_a_browser(play, host):
    async def talk(origin):
        return await origin.ask("/_admin/status", headers=f"Host: {host}\r\nSec-Fetch-Site: none\r\n")

    assert play(EVERYTHING, talk)[0] == 200


def test_a_recipe_that_would_be_read_for_long_is_refused_in_a_line(play):
    body = json.dumps({"stages": [{"at": 0}], "body": "a" * MOST_RECIPE_BYTES}).encode()
    refused, routes = answers(play, RECIPE, ("/_admin/add_recipe", "POST", body), ("/_admin/routes",))
    assert refused == (413, "a recipe has at most 0.5 MB; a large body is written as its size: <<20mb>>")
    assert routes == (200, "/news")
