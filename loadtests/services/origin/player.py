"""Plays recipes: what becomes of each request, by a clock that is handed in. No sockets here."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from loadtests.services.origin import replies
from loadtests.services.origin.content import require_room
from loadtests.services.origin.recipes import Recipe, Stage, written
from loadtests.services.origin.replies import Reply

Clock = Callable[[], float]  # seconds

NO_RECIPE = 406
OVER_LIMIT = 503


class Fate(Enum):
    """What becomes of a request."""

    ANSWERED = "answered"  # as the stage says
    FAILED = "failed"  # one of its share of failures
    RESET = "reset"
    STALLED = "stalled"  # never answered
    OVER_LIMIT = "over_limit"
    NO_RECIPE = "no_recipe"  # for its path


@dataclasses.dataclass(frozen=True)
class Played:
    """What is to become of a request: when, in seconds after it came, and which answer it gets."""

    fate: Fate
    latency_s: float
    reply: Reply
    of: Playing | None


class Stocked:
    """A recipe with its body."""

    def __init__(self, recipe: Recipe, body: bytes) -> None:
        self.recipe = recipe
        self.body = body
        self._replies: dict[int, Reply] = {}

    def reply(self, status: int) -> Reply:
        """The answer of a status: with the body where all is well, else with a few words."""
        found = self._replies.get(status)
        if found is None:
            found = self._replies[status] = self._make(status)
        return found

    def _make(self, status: int) -> Reply:
        recipe = self.recipe
        if 200 <= status < 300:
            coding = [("content-encoding", "gzip")] if recipe.gzip else []
            kind = replies.JSON if self.body.startswith(b"{") else replies.HTML
            return replies.reply(status, self.body, [*recipe.sent_headers, *coding], recipe.closes, kind)
        words = "Not found" if status == 404 else f"Error {status}"
        headers = [(name, value) for name, value in recipe.sent_headers if name != "content-type"]
        return replies.reply(status, words.encode(), headers, recipe.closes)


class Playing:
    """A recipe that is played since a moment. Seeded: its n-th request has the same luck whenever it is played."""

    def __init__(self, stocked: Stocked, clock: Clock) -> None:
        recipe = stocked.recipe
        self.stocked = stocked
        self.in_flight = 0
        self._clock = clock
        self._began = clock()
        # Two, so that a share of failures leaves the latencies as they are.
        self._luck = random.Random(f"{recipe.seed} {recipe.route} luck")
        self._chances = random.Random(f"{recipe.seed} {recipe.route} latency")

    @property
    def stage(self) -> Stage:
        """The stage that is on."""
        return self.stocked.recipe.stage(self._clock() - self._began)

    def begin(self) -> Played:
        """A request comes; it is in flight until ``end``."""
        stage, recipe = self.stage, self.stocked.recipe
        luck, latency_s = self._luck.random(), stage.distribution.at(self._chances.random())
        self.in_flight += 1
        if recipe.limit is not None and self.in_flight > recipe.limit:
            return self._played(Fate.OVER_LIMIT, 0.0, OVER_LIMIT)
        if luck < stage.stalls:
            return self._played(Fate.STALLED, 0.0, stage.status)
        if luck < stage.stalls + stage.resets:
            return self._played(Fate.RESET, latency_s, stage.status)
        if luck < stage.stalls + stage.resets + stage.failures:
            return self._played(Fate.FAILED, latency_s, stage.failure_status)
        return self._played(Fate.ANSWERED, latency_s, stage.status)

    def end(self) -> None:
        """A request is no longer in flight."""
        self.in_flight -= 1

    def _played(self, fate: Fate, latency_s: float, status: int) -> Played:
        return Played(fate, latency_s, self.stocked.reply(status), self)


class Player:
    """The routes of an origin, and what is played on each. Takes a clock, in seconds."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self.clock = clock
        self.routes: dict[str, Playing] = {}
        self._first: tuple[Stocked, ...] = ()
        self._prefixes: list[str] = []

    def start(self, recipes: Iterable[Stocked]) -> None:
        """What it plays from the beginning, and after each ``restart``. Raises UserError, as ``add`` does."""
        recipes = tuple(recipes)
        self.add(recipes)
        self._first = recipes

    def restart(self) -> None:
        """As at the beginning: the recipes of then, at their first stage; what was added since is gone."""
        self.routes = {}
        self.add(self._first)

    def add(self, recipes: Iterable[Stocked]) -> None:
        """Plays recipes from now on, each from its first stage, in the place of those of the same routes. Raises
        UserError, and leaves all as it is, where all bodies together were too much to hold."""
        routes = {**self.routes, **{one.recipe.route: Playing(one, self.clock) for one in recipes}}
        require_room(sum(len(playing.stocked.body) for playing in routes.values()))
        self.routes = routes
        self._prefixes = sorted((route for route in routes if route.endswith("*")), key=len, reverse=True)

    def find(self, path: str) -> Playing | None:
        """What is played on a path: on the route that is the path, else on the longest one that it begins with."""
        exact = self.routes.get(path)
        if exact is not None:
            return exact
        return next((self.routes[prefix] for prefix in self._prefixes if path.startswith(prefix[:-1])), None)

    def begin(self, path: str) -> Played:
        """A request for a path (without a query) comes."""
        playing = self.find(path)
        if playing is None:
            words = f"there is no recipe for {path}; POST one to /_admin/add_recipe"
            return Played(Fate.NO_RECIPE, 0.0, replies.text(NO_RECIPE, words), None)
        return playing.begin()

    def written(self) -> list[dict[str, Any]]:
        """The recipes that are played, as JSON holds them."""
        return [written(playing.stocked.recipe) for playing in self.routes.values()]
