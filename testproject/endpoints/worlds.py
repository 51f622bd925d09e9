"""Implement `single query`, `multiple queries` and `updates` of TechEmpower's FrameworkBenchmarks (docs/endpoints.rst).

Each row needs a separate query and a separate statement, in Django's default autocommit mode. Each `aget` and `asave`
of an async view runs Django's synchronous ORM in a thread, which needs two changes of thread.
"""

import random

from django.http import HttpRequest, JsonResponse

from endpoints.models import World

_async_worlds = getattr(World, "async_objects", World.objects)  # the manager of django-async-backend, if installed

ROWS = 10_000
MAX_QUERIES = 500


def db(request: HttpRequest) -> JsonResponse:
    """Return a random row."""
    return JsonResponse(World.objects.get(id=some_number()).as_dict())


async def db_async(request: HttpRequest) -> JsonResponse:
    world = await _async_worlds.aget(id=some_number())
    return JsonResponse(world.as_dict())


def queries(request: HttpRequest) -> JsonResponse:
    """Return `?queries=` random rows."""
    worlds = [World.objects.get(id=number) for number in some_ids(request)]
    return answer(worlds)


async def queries_async(request: HttpRequest) -> JsonResponse:
    worlds = [await _async_worlds.aget(id=number) for number in some_ids(request)]
    return answer(worlds)


def updates(request: HttpRequest) -> JsonResponse:
    """Set `?queries=` random rows to new numbers, and return them."""
    worlds = []
    for number in some_ids(request):
        world = World.objects.get(id=number)
        world.random_number = some_number()
        world.save(update_fields=["random_number"])
        worlds.append(world)
    return answer(worlds)


async def updates_async(request: HttpRequest) -> JsonResponse:
    worlds = []
    for number in some_ids(request):
        world = await World.objects.aget(id=number)
        world.random_number = some_number()
        await world.asave(update_fields=["random_number"])
        worlds.append(world)
    return answer(worlds)


def some_number() -> int:
    """Return a random number from 1 to 10,000, for an id or for the number of a row."""
    return random.randint(1, ROWS)


def some_ids(request: HttpRequest) -> list[int]:
    """Return random ids without repetition, as many as the request specifies."""
    return random.sample(range(1, ROWS + 1), how_many(request))


def how_many(request: HttpRequest) -> int:
    """Return the query parameter `queries`, from 1 to 500.

    The rules count a missing value, a value below 1 and other text as 1, and larger values as 500.
    """
    try:
        return min(max(int(request.GET.get("queries", "")), 1), MAX_QUERIES)
    except ValueError:
        return 1


def answer(worlds: list[World]) -> JsonResponse:
    """Return the rows as a JSON list.

    Django's default `safe=True` forbids lists, because attackers could read them in old browsers.
    """
    return JsonResponse([world.as_dict() for world in worlds], safe=False)
