"""The format of a study's TOML file."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from loadtests.plan.sweep import MAX_CELLS, Value
from loadtests.records.bounds import Name, Share, Variable

MAX_BLOCKS = 10_000
QUICK_BLOCKS = 2

Blocks = Annotated[int, Meta(ge=1, le=MAX_BLOCKS)]


class EntryTable(msgspec.Struct, kw_only=True):
    """The table of a setup in a study."""

    setup: Annotated[Name, Meta(description="The name of the setup.")]
    label: Annotated[Name | None, Meta(description="The setup's label. By default, the setup's name.")] = None
    env: Annotated[dict[Variable, Value], Meta(description="Environment variables of the setup's processes.")] = {}
    variant: Annotated[
        list[str],
        Meta(description='Changes to the environment of the setup (:ref:`variants`), such as ["granian==2.7.9"].'),
    ] = []
    against: Annotated[
        str | None,
        Meta(
            description="The label of the setup with which this setup is compared, instead of the baseline. If any "
            "setup has this key, setups without this key are not compared."
        ),
    ] = None


class StudyTable(msgspec.Struct, kw_only=True):
    """The top-level table of a study."""

    title: Annotated[str | None, Meta(description="The study's title. By default, the file's name.")] = None
    question: Annotated[str, Meta(description="The question that the study answers.")] = ""
    baseline: Annotated[
        str | None, Meta(description="The setup with which other setups are compared. By default, the first setup.")
    ] = None
    setups: Annotated[
        Annotated[list[Name | EntryTable], Meta(min_length=1, max_length=MAX_CELLS)] | None,
        Meta(description="The setups, as names or tables."),
    ] = None
    sweep: Annotated[
        dict[str, str | list[Value]] | None,
        Meta(description="One setup, with lists of values for its environment variables. Replaces setups."),
    ] = None
    tests: Annotated[dict[Name, dict[str, Any]], Meta(min_length=1, description="The tests, by name.")]
    blocks: Annotated[Blocks, Meta(description="The number of blocks.")] = 2
    quick_blocks: Annotated[Blocks, Meta(description="The maximum number of blocks with --quick.")] = QUICK_BLOCKS
    delta: Annotated[Share, Meta(description="Differences below this share are equivalent.")] = 0.03
    aa: Annotated[bool, Meta(description="Whether the baseline runs a second time, under another label.")] = False
    interleave: Annotated[bool, Meta(description="Whether load on the setups of a block is interleaved.")] = True

    def __post_init__(self) -> None:
        if self.sweep is None and self.setups is None:
            raise ValueError("setups: is missing. Add a list of setups")
        if self.sweep is not None and self.setups is not None:
            raise ValueError("setups: can't be combined with sweep. Leave one out")
