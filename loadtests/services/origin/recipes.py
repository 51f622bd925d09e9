"""Read recipes from JSON. A recipe describes the behaviour of an origin on a route, stage by stage."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from loadtests import files
from loadtests.errors import UserError, quoted, unknown
from loadtests.records import decode
from loadtests.records.bounds import VAST
from loadtests.services.origin import content, latencies
from loadtests.services.origin.content import Content
from loadtests.services.origin.latencies import Distribution, Drawn, Time

SHIPPED = Path(__file__).with_name("recipes")
ADMIN = "/_admin/"
EVERYTHING = "/*"
SEED = 2016
# An origin can't answer while it reads a recipe, so recipes are small. A recipe can contain the size of a large body
# instead of the body: <<20mb>>
MAX_RECIPE_BYTES = 500_000
MAX_STAGE_S = 24 * 3600.0

CODINGS = ("gzip", "identity")
CONNECTIONS = ("close", "keep-alive", "keepalive")  # BBC's example recipes contain "keepalive"
_OWN_HEADERS = ("content-length", "transfer-encoding")
# A route is a single *, as in BBC's recipes, or a path of visible ASCII without "?", with * only at the end.
_ROUTE = r"^(\*|/[\x21-\x29\x2b-\x3e\x40-\x7e]*\*?)\Z"

Status = Annotated[int, Meta(ge=200, le=599)]
ShareOfRequests = Annotated[float, Meta(ge=0, le=1)]
HeaderName = Annotated[str, Meta(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z", extra={"allowed": "the name of a header"})]
HeaderValue = Annotated[str, Meta(pattern=r"^[\t\x20-\x7e\xa0-\xff]*\Z", extra={"allowed": "a text of one line"})]


class Stage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, dict=True):
    """The behaviour of a route from the start of a stage to the next stage."""

    at: Annotated[
        Time,
        Meta(description="The time from the start of the recipe to the stage: 0 for the first stage, at most a day."),
    ]
    status: Annotated[Status, Meta(description="The status of the answers.")] = 200
    latency: Annotated[
        Time | Drawn,
        Meta(
            description='The duration of a request, at most an hour: "50ms"; "1000ms..1500ms", uniformly distributed; '
            "or a lognormal distribution."
        ),
    ] = 0
    failures: Annotated[
        ShareOfRequests,
        Meta(description="The share of requests that are answered with failure_status, after the same latency."),
    ] = 0.0
    failure_status: Annotated[Status, Meta(description="The status of the answers to the requests that fail.")] = 500
    resets: Annotated[
        ShareOfRequests,
        Meta(description="The share of requests whose connection is reset (TCP RST) instead of an answer."),
    ] = 0.0
    stalls: Annotated[
        ShareOfRequests,
        Meta(description="The share of requests that are never answered; the connection stays open."),
    ] = 0.0

    def __post_init__(self) -> None:
        _named("at", lambda: self.at_s)
        _named("latency", lambda: self.distribution)
        if (whole := self.failures + self.resets + self.stalls) > 1 + 1e-9:
            raise ValueError(f"failures, resets and stalls add up to {whole:g}. The sum must be at most 1")

    @functools.cached_property
    def at_s(self) -> float:
        """The start of the stage, in seconds after the start of the recipe."""
        return latencies.seconds(self.at, MAX_STAGE_S)

    @functools.cached_property
    def distribution(self) -> Distribution:
        """The latency of requests in this stage."""
        return latencies.distribution(self.latency)


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, dict=True):
    """The behaviour of an origin on a route."""

    stages: Annotated[
        tuple[Stage, ...],
        Meta(min_length=1, description="The stages, in the order of their times. The last stage persists."),
    ]
    route: Annotated[
        str,
        Meta(
            pattern=_ROUTE,
            description="A path such as /news, or a prefix of paths with a final *, such as /news/*.",
            extra={"allowed": "a path such as /news or /news/*"},
        ),
    ] = EVERYTHING
    body: Annotated[
        str | None,
        Meta(description="The body of answers with status 2xx. <<256kb>> stands for 256 KiB of random characters."),
    ] = None
    random_content: Annotated[
        str | None, Meta(description='The size of a random body, instead of "body": "512b", "256kb", "2mb".')
    ] = None
    origin: Annotated[str | None, Meta(description="Must be null, because an origin never fetches a body.")] = None
    headers: Annotated[dict[HeaderName, HeaderValue], Meta(description="Headers of every answer.")] = {}
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=VAST)] | None,
        Meta(description="The maximum number of requests in flight. The origin answers further requests with 503."),
    ] = None
    seed: Annotated[
        int, Meta(ge=-VAST, le=VAST, description="The seed of the random outcomes, which are always in the same order.")
    ] = SEED

    def __post_init__(self) -> None:
        if self.route.startswith(ADMIN):
            raise ValueError(f"route: is {quoted(self.route)}. Paths below {ADMIN} are for the admin interface")
        if self.origin is not None:
            raise ValueError("origin: must be null, because an origin never fetches a body. Use body or random_content")
        if self.body is not None and self.random_content is not None:
            raise ValueError("body and random_content can't be combined. Use one of these keys")
        _named("body" if self.random_content is None else "random_content", lambda: self.content)
        self._require_headers()
        if self.stages[0].at_s:
            raise ValueError("stages[1].at: is not 0. The first stage must start at 0")
        for number, (before, stage) in enumerate(zip(self.stages, self.stages[1:], strict=False), start=2):
            if stage.at_s <= before.at_s:
                raise ValueError(f"stages[{number}].at: must be later than the previous stage")

    def _require_headers(self) -> None:
        for name, value in self.headers.items():
            if name.lower() in _OWN_HEADERS:
                raise ValueError(f"headers.{name}: the origin sets this header itself. Leave it out")
            allowed = {"content-encoding": CODINGS, "connection": CONNECTIONS}.get(name.lower(), (value,))
            if value not in allowed:
                raise ValueError(f"headers.{name}: must be one of {', '.join(allowed)}, not {quoted(value)}")

    @functools.cached_property
    def content(self) -> Content:
        """The body of successful answers."""
        return content.of_size(self.random_content) if self.random_content else content.of_text(self.body or "")

    @functools.cached_property
    def sent_headers(self) -> tuple[tuple[str, str], ...]:
        """The headers of answers in lower case, except the headers that ``gzip`` and ``closes`` control."""
        lower = {name.lower(): value for name, value in self.headers.items()}
        return tuple((name, value) for name, value in lower.items() if name not in ("content-encoding", "connection"))

    @property
    def gzip(self) -> bool:
        """Whether the body is compressed."""
        return any(name.lower() == "content-encoding" and value == "gzip" for name, value in self.headers.items())

    @property
    def closes(self) -> bool:
        """Whether the connection closes after each answer."""
        return any(name.lower() == "connection" and value == "close" for name, value in self.headers.items())

    def stage(self, elapsed_s: float) -> Stage:
        """Return the stage at a time, in seconds after the recipe starts. The last stage doesn't end."""
        return self.stages[bisect.bisect_right(self.stages, elapsed_s, key=lambda stage: stage.at_s) - 1]


def _named(key: str, read: Callable[[], object]) -> None:
    """Call ``read``, and put the key before the text of its ValueError."""
    try:
        read()
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None


def names() -> list[str]:
    """Return the names of the included recipes."""
    return sorted(file.stem for file in SHIPPED.glob("*.json"))


def load(name_or_path: str) -> tuple[Recipe, ...]:
    """Read the recipes in a file, or an included recipe by its name.

    Raises:
        UserError: If a recipe isn't valid. The message contains the file, the key and the allowed values.
    """
    if name_or_path in names():
        path = SHIPPED / f"{name_or_path}.json"
    elif "/" not in name_or_path and not name_or_path.endswith(".json"):
        raise unknown("recipe", name_or_path, names())
    else:
        path = Path(name_or_path)
    try:
        return read(files.read(path, MAX_RECIPE_BYTES), name_or_path)
    except OSError as error:
        raise UserError(f"{name_or_path}: cannot be read: {error.strerror}") from None


def read(text: bytes, where: str) -> tuple[Recipe, ...]:
    """Read the recipes in a JSON text, an object or a list of objects.

    Raises:
        UserError: If a recipe isn't valid. The message starts with ``where``.
    """
    return parse(decode.read_json(text, where), where)


def parse(values: object, where: str) -> tuple[Recipe, ...]:
    """Convert JSON values to recipes.

    Raises:
        UserError: If a recipe isn't valid. The message starts with ``where``.
    """
    if not isinstance(values, list):
        return (decode.convert(values, Recipe, where),)
    if not values:
        raise UserError(f"{where}: must contain a recipe: an object or a list of objects")
    found: dict[str, Recipe] = {}
    for number, one in enumerate(values, start=1):
        recipe = decode.convert(one, Recipe, where, f"recipes[{number}].")
        if recipe.route in found:
            raise UserError(f"{where}: recipes[{number}].route: {recipe.route} already has a recipe")
        found[recipe.route] = recipe
    return tuple(found.values())


def written(recipe: Recipe) -> dict[str, Any]:
    """Convert the recipe to JSON-serializable values."""
    found: dict[str, Any] = msgspec.to_builtins(recipe)
    return found
