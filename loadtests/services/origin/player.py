"""Play recipes: decide the outcome of each request with a clock. This module doesn't use sockets."""

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

Clock = Callable[[], float]  # returns seconds

NO_RECIPE = 406
OVER_LIMIT = 503


class Fate(Enum):
    """The outcome of a request."""

    ANSWERED = "answered"  # the outcome that the stage defines
    FAILED = "failed"  # a failure from the stage's share of failures
    RESET = "reset"
    STALLED = "stalled"  # never answered
    OVER_LIMIT = "over_limit"
    NO_RECIPE = "no_recipe"  # no recipe for its path


@dataclasses.dataclass(frozen=True)
class Played:
    """The planned outcome of a request: the answer and its time, in seconds after the request."""

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
        """Return the answer with this status. Only successful answers contain the recipe's body."""
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
    """A recipe that is being played, and its start time. The random outcome of the n-th request is always the same."""

    def __init__(self, stocked: Stocked, clock: Clock) -> None:
        recipe = stocked.recipe
        self.stocked = stocked
        self.in_flight = 0
        self._clock = clock
        self._began = clock()
        # Failures and latencies use separate generators, so that the share of failures doesn't change the latencies.
        self._luck = random.Random(f"{recipe.seed} {recipe.route} luck")
        self._chances = random.Random(f"{recipe.seed} {recipe.route} latency")

    @property
    def stage(self) -> Stage:
        """The current stage."""
        return self.stocked.recipe.stage(self._clock() - self._began)

    def begin(self) -> Played:
        """Start a request. It is in flight until ``end``."""
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
        """End a request."""
        self.in_flight -= 1

    def _played(self, fate: Fate, latency_s: float, status: int) -> Played:
        return Played(fate, latency_s, self.stocked.reply(status), self)


class Player:
    """The routes of an origin and their recipes. The clock returns seconds."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self.clock = clock
        self.routes: dict[str, Playing] = {}
        self._first: tuple[Stocked, ...] = ()
        self._prefixes: list[str] = []

    def start(self, recipes: Iterable[Stocked]) -> None:
        """Play these recipes now, and again after each ``restart``.

        Raises:
            UserError: If the bodies are too large.
        """
        recipes = tuple(recipes)
        self.add(recipes)
        self._first = recipes

    def restart(self) -> None:
        """Restart the first recipes at their first stage, and remove recipes that were added later."""
        self.routes = {}
        self.add(self._first)

    def add(self, recipes: Iterable[Stocked]) -> None:
        """Start these recipes at their first stages. They replace recipes with the same routes.

        Raises:
            UserError: If the bodies together are too large. In this case nothing changes.
        """
        routes = {**self.routes, **{one.recipe.route: Playing(one, self.clock) for one in recipes}}
        require_room(sum(len(playing.stocked.body) for playing in routes.values()))
        self.routes = routes
        self._prefixes = sorted((route for route in routes if route.endswith("*")), key=len, reverse=True)

    def find(self, path: str) -> Playing | None:
        """Return the recipe of a path: the exact route, or else the longest matching prefix."""
        exact = self.routes.get(path)
        if exact is not None:
            return exact
        return next((self.routes[prefix] for prefix in self._prefixes if path.startswith(prefix[:-1])), None)

    def begin(self, path: str) -> Played:
        """Start a request for a path (without a query)."""
        playing = self.find(path)
        if playing is None:
            words = f"there is no recipe for {path}; POST a recipe to /_admin/add_recipe"
            return Played(Fate.NO_RECIPE, 0.0, replies.text(NO_RECIPE, words), None)
        return playing.begin()

    def written(self) -> list[dict[str, Any]]:
        """Return the current recipes as JSON-serializable values."""
        return [written(playing.stocked.recipe) for playing in self.routes.values()]
