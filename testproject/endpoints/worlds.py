"""The tests `single query`, `multiple queries` and `updates` of TechEmpower's FrameworkBenchmarks (docs/endpoints.rst).

Each row is read by a query of its own and written by a statement of its own, in Django's default autocommit. Every
`aget` and `asave` of an async view is Django's synchronous ORM in a thread: a hop there and a hop back.
"""

import random

from django.http import HttpRequest, JsonResponse

from endpoints.models import World

ROWS = 10_000
MOST_QUERIES = 500


def db(request: HttpRequest) -> JsonResponse:
    """One row at random."""
    return JsonResponse(World.objects.get(id=some_number()).as_dict())


async def db_async(request: HttpRequest) -> JsonResponse:
    """The same from a coroutine."""
    world = await World.objects.aget(id=some_number())
    return JsonResponse(world.as_dict())


def queries(request: HttpRequest) -> JsonResponse:
    """`?queries=`: that many rows at random."""
    worlds = [World.objects.get(id=number) for number in some_ids(request)]
    return answer(worlds)


async def queries_async(request: HttpRequest) -> JsonResponse:
    """The same from a coroutine."""
    worlds = [await World.objects.aget(id=number) for number in some_ids(request)]
    return answer(worlds)


def updates(request: HttpRequest) -> JsonResponse:
    """`?queries=`: that many rows at random, each with a new number."""
    worlds = []
    for number in some_ids(request):
        world = World.objects.get(id=number)
        world.random_number = some_number()
        world.save(update_fields=["random_number"])
        worlds.append(world)
    return answer(worlds)


async def updates_async(request: HttpRequest) -> JsonResponse:
    """The same from a coroutine."""
    worlds = []
    for number in some_ids(request):
        world = await World.objects.aget(id=number)
        world.random_number = some_number()
        await world.asave(update_fields=["random_number"])
        worlds.append(world)
    return answer(worlds)


def some_number() -> int:
    """From 1 to 10,000: an id, or the number of a row."""
    return random.randint(1, ROWS)


def some_ids(request: HttpRequest) -> list[int]:
    """As many different ids as the request asks for."""
    return random.sample(range(1, ROWS + 1), how_many(request))


def how_many(request: HttpRequest) -> int:
    """`?queries=`, from 1 to 500. By the rules, what is missing, below 1 or no whole number is 1, above 500 is 500."""
    try:
        return min(max(int(request.GET.get("queries", "")), 1), MOST_QUERIES)
    except ValueError:
        return 1


def answer(worlds: list[World]) -> JsonResponse:
    """The rows as a JSON list; `safe` is Django's guard against lists, which old browsers could be tricked with."""
    return JsonResponse([world.as_dict() for world in worlds], safe=False)
