import pytest

from loadtests.profile.stacks import INSTALLED, PROJECT, STANDARD, Frame


def frame_of(text):
    """Return the frame that a text such as ``function path`` describes.

    The prefix ``lib:`` of a path means the standard library, and ``app:`` means the project.
    """
    name, _, path = text.partition(" ")
    origin = {"lib": STANDARD, "app": PROJECT}.get(path.partition(":")[0], INSTALLED)
    return Frame(name, path.partition(":")[2] or path, origin)


@pytest.fixture
def stack():
    """Return a function that creates a stack from descriptions of its frames, with the outermost frame first."""
    return lambda *texts: tuple(map(frame_of, texts))
