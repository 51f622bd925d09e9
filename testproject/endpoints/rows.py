"""Fill the two tables."""

import random

from endpoints.models import Fortune, World
from endpoints.worlds import ROWS

SEED = 2013  # a fixed seed (the year of TechEmpower's first round), so that all machines get the same random numbers

# The messages in TechEmpower's rules. One message is a script, and one message isn't ASCII.
MESSAGES = (
    "fortune: No such file or directory",
    "A computer scientist is someone who fixes things that aren't broken.",
    "After enough decimal places, nobody gives a damn.",
    "A bad random number generator: 1, 1, 1, 1, 1, 4.33e+67, 1, 1, 1",
    "A computer program does what you tell it to do, not what you want it to do.",
    "Emacs is a nice operating system, but I prefer UNIX. — Tom Christaensen",
    "Any program that runs right is obsolete.",
    "A list is only as strong as its weakest link. — Donald Knuth",
    "Feature: A bug with seniority.",
    "Computers make very fast, very accurate mistakes.",
    '<script>alert("This should not be displayed in a browser alert box.");</script>',
    "フレームワークのベンチマーク",
)


def fill() -> None:
    """Insert the rows unless they exist. For World, only the number of rows is checked."""
    if World.objects.count() != ROWS:
        World.objects.all().delete()
        numbers = random.Random(SEED)
        World.objects.bulk_create(
            World(id=number, random_number=numbers.randint(1, ROWS)) for number in range(1, ROWS + 1)
        )
    if tuple(Fortune.objects.order_by("id").values_list("message", flat=True)) != MESSAGES:
        Fortune.objects.all().delete()
        Fortune.objects.bulk_create(Fortune(id=number, message=text) for number, text in enumerate(MESSAGES, start=1))
