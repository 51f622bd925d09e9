"""Test how recipes are read. An error is one line with the key."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

from loadtests.errors import UserError
from loadtests.services.origin import recipes
from loadtests.services.origin.latencies import Constant, Lognormal, Uniform
from loadtests.services.origin.player import Player, Stocked
from tests.fixtures import hostile
from tests.fixtures.schemas import changed

# The original load test's recipe for a slow origin, with a random body instead of a page to fetch.
ORIGINAL = [
    {
        "stages": [{"status": 200, "latency": "1s", "at": 0}],
        "route": "/*",
        "random_content": "240kb",
        "origin": None,
        "headers": {"content-type": "text/html; charset=utf-8", "content-encoding": "gzip"},
        "body": None,
    }
]
FULL = {
    "route": "/news*",
    "body": "<p>some random <<4kb>> and also <<10kb>> of this</p>",
    "headers": {"content-type": "text/html", "X-Served-By": "origin"},
    "limit": 100,
    "seed": 7,
    "stages": [
        {"at": 0, "status": 200, "latency": "50ms"},
        {"at": "4s", "status": 503, "latency": "1000ms..1500ms"},
        {"at": "1m", "latency": {"lognormal": {"median": "80ms", "p99": "0.9s"}}, "failures": 0.1,
         "failure_status": 502, "resets": 0.1, "stalls": 0.8},
        {"at": "1.5m", "latency": 0},
    ],
}  # fmt: skip
SMALL = {"stages": [{"at": 0}]}


def read(value):
    return recipes.read(json.dumps(value).encode(), "a.json")


def test_included_recipes_are_valid():
    assert recipes.names()
    assert all(recipes.load(name) for name in recipes.names())


def test_original_recipe_is_read():
    [recipe] = read(ORIGINAL)
    assert (recipe.route, recipe.content.size, recipe.gzip) == ("/*", 240 * 1024, True)
    assert recipe.sent_headers == (("content-type", "text/html; charset=utf-8"),)
    [stage] = recipe.stages
    assert (stage.at_s, stage.status, stage.distribution) == (0, 200, Constant(1.0))


def test_recipe_may_be_a_single_object():
    [recipe] = read(SMALL)
    assert (recipe.route, recipe.content.size, recipe.limit) == ("/*", 0, None)
    assert recipe.stages[0].distribution == Constant(0.0)


def test_latencies_may_be_random():
    [recipe] = read(FULL)
    first, range_, drawn, last = (stage.distribution for stage in recipe.stages)
    assert (first, range_, drawn, last) == (Constant(0.05), Uniform(1.0, 1.5), Lognormal(0.08, 0.9), Constant(0.0))
    assert [stage.at_s for stage in recipe.stages] == [0, 4, 60, 90]
    assert [drawn.at(0.5), drawn.at(0.99)] == pytest.approx([0.08, 0.9])
    assert 0 < drawn.at(0.0) < drawn.at(0.1) < drawn.at(1 - 2**-53) < 3600
    assert Lognormal(0.08, 900.0).at(1 - 2**-53) == 3600  # a latency is at most an hour
    assert [range_.at(chance) for chance in (0.0, 0.5, 1.0)] == [1.0, 1.25, 1.5]


def test_seed_determines_random_content():
    [recipe] = read(FULL)
    body = recipe.content.make("a seed")
    assert body.startswith(b"<p>some random ")
    assert body.endswith(b" of this</p>")
    assert len(body) == recipe.content.size == len(FULL["body"]) - len("<<4kb>><<10kb>>") + 14 * 1024
    assert body == recipe.content.make("a seed") != recipe.content.make("another")
    assert json.loads(b'"' + body[15 : 15 + 4096] + b'"')  # the content can be part of JSON


WRONG = [
    (("stages",), [], "stages: must be a list that is not empty"),
    (("stages", 1, "at"), "-4s", "stages[2].at: must be a time of 0 or more, not '-4s'"),
    (("stages", 0, "latency"), 50, "stages[1].latency: must be a time of 0 or more, not 50"),
    (("stages", 0, "status"), 199, "stages[1].status: must be a whole number from 200 to 599, not 199"),
    (("stages", 2, "failures"), 1.5, "stages[3].failures: must be a number from 0 to 1, not 1.5"),
    (("route",), "news", "route: must be a path such as /news or /news/*, not 'news'"),
    (("route",), "/a?b=c", "route: must be a path such as /news or /news/*, not '/a?b=c'"),
    (("route",), "/_admin/status", "route: is '/_admin/status'. Paths below /_admin/ are for the admin interface"),
    (("rout",), "/", "rout: is not a known key. Did you mean route? Allowed: body, h"),
    (("random_content",), "1kb", "body and random_content can't be combined"),
    (("origin",), "https://www.bbc.co.uk/news", "origin: must be null, because an origin never fetches a body"),
    (("headers", "X Y"), "1", "headers: contains an invalid name. It must be the name of a header"),
    (("headers", "X"), "a\r\nb: c", "headers[...]: must be a text of one line"),
    (("headers", "Content-Length"), "1", "headers.Content-Length: the origin sets this header"),
    (("headers", "Content-Encoding"), "br", "headers.Content-Encoding: must be one of gzip, identity, not 'br'"),
    (("stages", 0, "at"), "1s", "stages[1].at: is not 0. The first stage must start at 0"),
    (("stages", 2, "at"), "4s", "stages[3].at: must be later than the previous stage"),
    (("stages", 1, "at"), "25000m", "stages[2].at: is '25000m'; at most 1440m is allowed"),
    (("stages", 0, "latency"), "2s..1s", "stages[1].latency: is '2s..1s'. Write the smaller time first"),
    (("stages", 0, "latency"), "61m", "stages[1].latency: is '61m'; at most 60m is allowed"),
    (("stages", 2, "latency", "lognormal", "p99"), "80ms", "stages[3].latency: lognormal: the median must be above 0"),
    (("stages", 2, "stalls"), 0.9, "stages[3]: failures, resets and stalls add up to 1.1"),
    (("body",), "<<1gb>>", "body: contains '1gb', which must be a size such as"),
    (("body",), "<<1024mb>>", "body: 1,024 MB; at most 64 MB are allowed (bodies are kept in memory)"),
    (("body",), "\ud800", "body: contains half of a surrogate pair"),
]


@pytest.mark.parametrize(("path", "new", "says"), WRONG)
def test_error_names_the_key(path, new, says):
    with pytest.raises(UserError) as raised:
        read(changed(FULL, path, new))
    assert str(raised.value).startswith(f"a.json: {says}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ([SMALL, {"stages": [{"at": 0, "status": 99}]}], "recipes[2].stages[1].status: must be a whole number "),
        ([SMALL, SMALL], "recipes[2].route: /* already has a recipe"),
        ([], "must contain a recipe"),
        ([7], "recipes[1]: must be a table, not 7"),
    ],
)
def test_list_error_names_the_recipe(written, says):
    with pytest.raises(UserError) as raised:
        read(written)
    assert str(raised.value).startswith(f"a.json: {says}")


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(hostile.changed([FULL, {"route": "/random", "random_content": "1kb", **SMALL}, ORIGINAL[0]]))
def test_arbitrary_recipe_is_played_or_refused(value):
    try:
        played, refused = read(value), ""
    except UserError as error:
        played, refused = (), str(error)
    assert refused.isprintable()  # the error has no line break
    player = Player(lambda: 0.0)
    player.start(Stocked(recipe, recipe.content.make("a seed")) for recipe in played)
    for recipe in played:
        found = player.begin(recipe.route.rstrip("*"))
        assert 0 <= found.latency_s <= 3600
        assert found.reply.head.startswith(b"HTTP/1.1 ")
