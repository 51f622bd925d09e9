"""Recipes that nobody thought of: each is read, or refused in one line."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loadtests.errors import UserError
from loadtests.services.origin import recipes
from loadtests.services.origin.player import Player, Stocked

times = st.sampled_from([0, 0.0, "0ms", "50ms", "1s", "1.5m", "-1s", "1e3s", "9" * 12 + "m", 50, True, None, "1s..2s"])
statuses = st.sampled_from([200, 204, 301, 404, 503, 599, 600, -1, 10**30, "200", None])
shares = st.sampled_from([0, 0.5, 1, -0.1, 1.5, float("nan"), float("inf"), "1", None])
latencies = times | st.fixed_dictionaries({"lognormal": st.fixed_dictionaries({"median": times, "p99": times})})
texts = st.text(max_size=20) | st.sampled_from(
    ["<<1kb>>", "<<1gb>>", "<<", "<<9mb>>>>", "5b", "http://127.0.0.1/", "/a*"]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
stages = st.fixed_dictionaries(
    {"at": times},
    optional={
        "status": statuses,
        "latency": latencies,
        "failures": shares,
        "failure_status": statuses,
        "resets": shares,
        "stalls": shares,
    },
)
written = st.fixed_dictionaries(
    {"stages": st.lists(stages | anything, max_size=3)},
    optional={
        "route": texts,
        "body": texts,
        "random_content": texts,
        "origin": texts,
        "headers": st.dictionaries(texts, texts, max_size=2) | anything,
        "limit": st.integers(-2, 5) | anything,
        "seed": st.integers() | anything,
    },
)


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(written, max_size=2) | written | anything)
def test_a_recipe_is_played_or_refused_in_one_line(value):
    try:
        read, refused = recipes.read(json.dumps(value).encode(), "a.json"), ""
    except UserError as error:
        read, refused = (), str(error)
    assert refused.isprintable()  # nor is there a line break
    player = Player(lambda: 0.0)
    player.start(Stocked(recipe, recipe.content.make("a seed")) for recipe in read)
    for recipe in read:
        played = player.begin(recipe.route.rstrip("*"))
        assert 0 <= played.latency_s <= 3600
        assert played.reply.head.startswith(b"HTTP/1.1 ")
