"""A flame graph as an SVG document of its own: outermost functions on top, coloured by what the time was spent on.

Without scripts it can be read, printed and searched with the browser (every frame has its text as a title). Its script
makes it as wide as there is room for, and adds: click or Enter on a frame widens it, Escape goes back, a search marks
frames.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from loadtests.formatting import plural
from loadtests.profile.classify import Category, category
from loadtests.profile.stacks import Frame, Stacks
from loadtests.profile.templates import environment, source

WIDTH = 1200.0
ROW = 18
TOP = 64
NARROWEST = 0.0008  # a share of the width: less than a pixel
LETTER = 6.3  # pixels of a letter in 11-pixel monospace, rounded up

# Light enough for dark letters on a light page and on a dark one; neighbours in a stack differ in lightness as well.
COLOURS = {
    Category.SERVER: "#9ecae8",
    Category.ADAPTATION: "#f7c873",
    Category.HOPS: "#f2977a",
    Category.MIDDLEWARE: "#b9dc9c",
    Category.URLS: "#e9e07a",
    Category.VIEW: "#7fd1b9",
    Category.TEMPLATE: "#d9b8e6",
    Category.DATABASE: "#f4b3cc",
    Category.LAYER: "#b3b6f0",
    Category.OTHER: "#d5d9de",
    Category.NATIVE: "#b8bec6",
}


@dataclasses.dataclass
class Node:
    """A function below its callers: how many samples it is in, and its own callees."""

    frame: Frame
    kind: Category
    count: int = 0
    children: dict[Frame, Node] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Box:
    """A frame as it is drawn. ``x`` and ``width`` are shares of the whole, ``row`` counts from the top."""

    x: float
    width: float
    row: int
    label: str
    title: str
    colour: str


def tree(title: str, stacks: Stacks) -> Node:
    """The stacks as one tree, whose root is called ``title``.

    A frame has the colour of what a stack that ends in it would be busy with.
    """
    root = Node(Frame(title, ""), Category.OTHER)
    for stack, count in stacks.items():
        root.count += count
        node = root
        for depth, frame in enumerate(stack or (Frame("no Python frame", ""),)):
            child = node.children.get(frame)
            if child is None:
                child = node.children[frame] = Node(frame, category(stack[: depth + 1]))
            child.count += count
            node = child
    return root


def boxes(root: Node) -> Iterator[Box]:
    """What is to be drawn of the tree, from the root outwards; too narrow ones are left out."""
    pending = [(root, 0.0, 0)]
    while pending:
        node, x, row = pending.pop()
        width = node.count / root.count
        label = node.frame.name
        title = f"{node.frame}: {node.count / root.count:.1%}, {plural(node.count, 'sample')}"
        if row:
            title += f", {node.kind.value}"
        yield Box(x, width, row, label, title, COLOURS[node.kind])
        left = x
        for child in sorted(node.children.values(), key=lambda one: (one.frame.file, one.frame.name, one.frame.line)):
            if child.count / root.count >= NARROWEST:
                pending.append((child, left, row + 1))
            left += child.count / root.count


def svg(title: str, about: str, stacks: Stacks) -> str:
    """The drawing. ``about`` is a sentence below the title. Stacks must not be empty."""
    drawn = sorted(boxes(tree(title, stacks)), key=lambda box: (box.row, box.x))
    colours = {box.colour for box in drawn if box.row}
    templates = environment()
    templates.filters.update(shortened=shortened, share=_share, pixels=_pixels)
    return templates.get_template("flamegraph.svg.j2").render(
        title=title,
        about=about,
        boxes=drawn,
        width=WIDTH,
        row=ROW,
        top=TOP,
        height=TOP + ROW * (max(box.row for box in drawn) + 1) + 12,
        letter=LETTER,
        legend=[(kind.value, colour) for kind, colour in COLOURS.items() if colour in colours],
        script=source("flamegraph.js"),
    )


def _share(value: float) -> str:
    return f"{value:.6f}"


def _pixels(value: float) -> str:
    return f"{value:.1f}"


def shortened(label: str, width: float) -> str:
    """As much of the label as fits into so many pixels; empty where that is less than three letters."""
    room = int((width - 6) / LETTER)
    if room >= len(label):
        return label
    return f"{label[: room - 1]}…" if room >= 3 else ""
