"""A flame graph as an SVG document: outermost functions on top, coloured by category, each frame with its full name
as a title. Zooming and searching are left to speedscope."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from html import escape

from loadtests.formatting import plural, printable
from loadtests.profile.classify import Category, category
from loadtests.profile.stacks import Frame, Stacks

WIDTH = 1200.0
ROW = 18
TOP = 64
NARROWEST = 0.0008  # of the width: less than a pixel
LETTER = 6.3  # pixels of a letter in 11-pixel monospace, rounded up
STYLE = """<style>
.flame { --ink: #1b1f24; --muted: #5c6570; --paper: #fdfdfe; background: var(--paper); font-family: Arial, sans-serif; }
@media screen and (prefers-color-scheme: dark) { .flame { --ink: #e6e9ed; --muted: #a3acb8; --paper: #14181d; } }
.head { fill: var(--ink); font-size: 15px; font-weight: bold; }
.note { fill: var(--muted); font-size: 12px; }
.key { fill: var(--ink); font-size: 12px; }
.frame rect { stroke: var(--paper); stroke-width: .6; }
.frame text { fill: #1b1f24; font: 11px "DejaVu Sans Mono", "Liberation Mono", Menlo, Consolas, monospace; }
</style>"""

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
    """A function below its callers, with its number of samples."""

    frame: Frame
    category: Category
    count: int = 0
    children: dict[Frame, Node] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Box:
    """A drawn frame. ``x`` and ``width`` are shares of the whole, ``row`` counts from the top."""

    x: float
    width: float
    row: int
    label: str
    title: str
    colour: str


def tree(title: str, stacks: Stacks) -> Node:
    """The stacks as one tree with the root ``title``. Each frame has the category of a stack that ends in it."""
    root = Node(Frame(title, ""), Category.OTHER)
    for stack, count in stacks.items():
        root.count += count
        node = root
        for depth, frame in enumerate(stack or (Frame("no Python frame", ""),)):
            if frame not in node.children:
                node.children[frame] = Node(frame, category(stack[: depth + 1]))
            node = node.children[frame]
            node.count += count
    return root


def boxes(root: Node) -> Iterator[Box]:
    """The boxes of a tree from the root outwards, without those that are too narrow."""
    pending = [(root, 0.0, 0)]
    while pending:
        node, x, row = pending.pop()
        width = node.count / root.count
        title = f"{node.frame}: {width:.1%}, {plural(node.count, 'sample')}"
        if row:
            title += f", {node.category.value}"
        yield Box(x, width, row, node.frame.name, title, COLOURS[node.category])
        for child in sorted(node.children.values(), key=lambda one: (one.frame.file, one.frame.name, one.frame.line)):
            if child.count / root.count >= NARROWEST:
                pending.append((child, x, row + 1))
            x += child.count / root.count


def svg(title: str, stacks: Stacks) -> str:
    """The drawing of stacks, of which there is at least one."""
    drawn = sorted(boxes(tree(title, stacks)), key=lambda box: (box.row, box.x))
    about = (
        f"{plural(sum(stacks.values()), 'sample')}; callers above what they call; frames under {NARROWEST:.2%} of the "
        "width are left out"
    )
    height = TOP + ROW * (max(box.row for box in drawn) + 1) + 12
    size = f'viewBox="0 0 {WIDTH:g} {height}" width="{WIDTH:g}" height="{height}"'
    label = _text(f"{title}. {about}")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="flame" {size} role="img" aria-label="{label}">',
        STYLE,
        f'<text class="head" x="4" y="17">{_text(title)}</text>',
        f'<text class="note" x="4" y="35">{_text(about)}</text>',
        *_legend({box.colour for box in drawn if box.row}),
        *map(_drawn, drawn),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _legend(colours: set[str]) -> Iterator[str]:
    x = 4.0
    for kind, colour in COLOURS.items():
        if colour in colours:
            yield f'<rect x="{x:g}" y="45" width="12" height="12" fill="{colour}"/>'
            yield f'<text class="key" x="{x + 16:g}" y="55">{_text(kind.value)}</text>'
            x += 34 + 6.2 * len(kind.value)


def _drawn(box: Box) -> str:
    x, y, width = box.x * WIDTH, TOP + ROW * box.row, box.width * WIDTH
    rect = f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW}" fill="{box.colour}"/>'
    label = shortened(box.label, width)
    text = f'<text x="{x + 3:.1f}" y="{y + 13}">{_text(label)}</text>' if label else ""
    return f'<g class="frame"><title>{_text(box.title)}</title>{rect}{text}</g>'


def _text(text: str) -> str:
    return escape(printable(text))


def shortened(label: str, width: float) -> str:
    """The part of the label that fits into that many pixels; empty below three letters."""
    room = int((width - 6) / LETTER)
    if room >= len(label):
        return label
    return f"{label[: room - 1]}…" if room >= 3 else ""
