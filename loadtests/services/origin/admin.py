"""Answer requests for the origin's paths below /_admin/: its state, its counts, and commands."""

from __future__ import annotations

import gzip
from collections.abc import Iterable

from loadtests.errors import UserError
from loadtests.services.origin import recipes, replies
from loadtests.services.origin.content import require_room
from loadtests.services.origin.counts import Counts
from loadtests.services.origin.player import Player, Stocked
from loadtests.services.origin.recipes import Recipe
from loadtests.services.origin.replies import Reply

QUERIES = ("current_recipe", "current_count")
COMMANDS = ("add_recipe", "restart")


class Desk:
    """Answer requests below /_admin/."""

    def __init__(self, player: Player, counts: Counts) -> None:
        self.player = player
        self.counts = counts

    def answer(self, method: str, path: str, body: bytes) -> Reply:
        """Answer a request for a path below /_admin/."""
        name = path.removeprefix(recipes.ADMIN)
        if name not in QUERIES + COMMANDS:
            return replies.text(404, f"unknown. Allowed: {', '.join(QUERIES + COMMANDS)}")
        allowed = ("POST",) if name == "add_recipe" else ("GET", "HEAD") if name in QUERIES else ("GET", "POST")
        if method not in allowed:
            return replies.text(405, f"{name} only allows {' or '.join(allowed)}")
        if name == "add_recipe":
            return self._add(body)
        if name == "restart":
            self.player.restart()
            self.counts.clear()
            return replies.text(200, "ok!")
        return replies.as_json(200, self.player.written() if name == "current_recipe" else self.counts.totals())

    def _add(self, body: bytes) -> Reply:
        try:
            self.player.add(stocked(recipes.read(body, "add_recipe")))
        except UserError as error:
            return replies.text(400, str(error))
        return replies.as_json(201, self.player.written())


def stocked(added: Iterable[Recipe]) -> list[Stocked]:
    """Return the recipes with their generated bodies.

    Raises:
        UserError: If the bodies are too large.
    """
    found: list[Stocked] = []
    for recipe in added:
        size = sum(len(one.body) for one in found)
        require_room(size + recipe.content.size)  # check the size before the body is generated
        body = recipe.content.make(f"{recipe.seed} {recipe.route} content")
        found.append(Stocked(recipe, gzip.compress(body, mtime=0) if recipe.gzip else body))
    return found
