"""Answer requests for the origin's paths below /_admin/: its state, its counts, and commands."""

from __future__ import annotations

import gzip
from collections.abc import Iterable

from loadtests.errors import UserError
from loadtests.services.origin import loopback, recipes, replies
from loadtests.services.origin.content import require_room
from loadtests.services.origin.counts import Counts
from loadtests.services.origin.player import Player, Stocked
from loadtests.services.origin.recipes import Recipe
from loadtests.services.origin.replies import Reply

QUERIES = ("status", "current_recipe", "routes", "routes_status", "current_count", "seconds")
COMMANDS = ("add_recipe", "restart")


class Desk:
    """Answer requests below /_admin/. ``port`` is the port of the origin."""

    def __init__(self, player: Player, counts: Counts, port: int) -> None:
        self.player = player
        self.counts = counts
        self.port = port

    async def answer(self, method: str, path: str, body: bytes) -> Reply:
        """Answer a request for a path below /_admin/."""
        name = path.removeprefix(recipes.ADMIN)
        if name not in QUERIES + COMMANDS:
            return replies.text(404, f"unknown. Allowed: {', '.join(QUERIES + COMMANDS)}")
        allowed = ("POST",) if name == "add_recipe" else ("GET", "HEAD") if name in QUERIES else ("GET", "POST")
        if method not in allowed:
            return replies.text(405, f"{name} only allows {' or '.join(allowed)}")
        if name == "add_recipe":
            return await self._add(body)
        if name == "restart":
            self.player.restart()
            self.counts.clear()
            return replies.text(200, "ok!")
        return self._read(name)

    async def _add(self, body: bytes) -> Reply:
        try:
            self.player.add(await stocked(recipes.read(body, "add_recipe"), self.port))
        except UserError as error:
            return replies.text(400, str(error))
        return replies.as_json(201, self.player.written())

    def _read(self, name: str) -> Reply:
        if name == "current_recipe":
            return replies.as_json(200, self.player.written())
        if name == "current_count":
            return replies.as_json(200, self.counts.totals())
        if name == "seconds":
            return replies.as_json(200, self.counts.seconds())
        if name == "status":
            return replies.text(200, "ok!")
        routes = sorted(self.player.routes)
        if name == "routes_status":
            stages = {route: self.player.routes[route].stage for route in routes}
            routes = [f"{route} {stage.status} {stage.distribution.describe()}" for route, stage in stages.items()]
        return replies.text(200, "\n".join(routes))


async def stocked(added: Iterable[Recipe], port: int) -> list[Stocked]:
    """Return the recipes with their bodies, either generated or fetched from a URL.

    Raises:
        UserError: If a body is too large or can't be fetched.
    """
    found: list[Stocked] = []
    for recipe in added:
        size = sum(len(one.body) for one in found)
        require_room(size + recipe.content.size)  # check the size before the body is generated
        found.append(Stocked(recipe, await _body(recipe, port)))
    return found


async def _body(recipe: Recipe, port: int) -> bytes:
    if recipe.origin is None:
        body = recipe.content.make(f"{recipe.seed} {recipe.route} content")
    else:
        try:
            body = await loopback.fetched(recipe.origin, port)
        except UserError as error:
            raise UserError(f"the recipe of {recipe.route}: origin: {error}") from None
    return gzip.compress(body, mtime=0) if recipe.gzip else body
