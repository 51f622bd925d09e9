"""Define the entries of a study. An entry is a setup with a label and knobs."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence

from loadtests.errors import UserError, quoted
from loadtests.plan.kinds.base import RECIPE_KNOB
from loadtests.plan.study_table import EntryTable
from loadtests.plan.sweep import Sweep, Value
from loadtests.records import decode
from loadtests.records.bounds import Name, Variable
from loadtests.setups import Setup, variants
from loadtests.setups.knobs import SERVERS, kept
from loadtests.setups.variants import Variant

THE_RUNS_OWN = {"BIND", "PORT", "CORES", "RUN_DIR", "DATABASE_URL"}


@dataclasses.dataclass(frozen=True)
class Entry:
    """A setup in a study, with a label and the knobs (environment variables) to start it with."""

    label: Name
    setup: str
    env: dict[Variable, str]
    against: str = ""
    """In a study of pairs, the label of the setup with which this setup is compared, or an empty string."""
    variant: tuple[str, ...] = ()
    """The variants of the setup's environment (``loadtests.setups.variants``)."""

    def twin(self, variant: Variant, setup: Setup) -> Entry | None:
        """Return the entry with a variant, or None if the variant doesn't change the entry."""
        subjects = {one.subject for one in variants.parse_environment(self.variant)}
        if setup.unfit(variant) or variant.subject in subjects or (variant.is_hopless and "HOPLESS" in self.env):
            return None
        changed = (*self.variant, variant.text)
        env = {} if variant.file else self.env  # a deployed command ignores the knobs
        label = variant.name_for(self.label)[:90]  # the limit of ``bounds.Name``
        against = "" if variant.file else self.label  # a deployed command is a candidate like the other setups
        return dataclasses.replace(self, label=label, env=env, variant=changed, against=against)


def in_environment(entry: Entry, setups: Mapping[str, Setup]) -> Setup:
    """Find the entry's setup by its name in ``setups``, and return it in the entry's environment."""
    return setups[entry.setup].with_variants(variants.parse_environment(entry.variant))


def alike(one: Entry, other: Entry) -> bool:
    """Return whether two entries differ only in their labels."""
    return (one.setup, one.env, one.variant) == (other.setup, other.env, other.variant)


def from_list(given: Sequence[str | EntryTable], where: str) -> tuple[Entry, ...]:
    tables = (EntryTable(setup=one) if isinstance(one, str) else one for one in given)
    return tuple(_entry(table, f"{where}: setups[{number}].") for number, table in enumerate(tables, start=1))


def from_sweep(sweep: Sweep, where: str) -> tuple[Entry, ...]:
    return tuple(
        _entry(decode.convert(cell, EntryTable, where, "sweep."), f"{where}: sweep.") for cell in sweep.cells()
    )


def _entry(table: EntryTable, where: str) -> Entry:
    label = table.setup if table.label is None else table.label
    try:
        variant = tuple(one.text for one in variants.parse_environment(table.variant))
    except UserError as error:
        raise UserError(f"{where}{error}") from None
    return Entry(label, table.setup, _environment(table.env, f"{where}env."), table.against or "", variant)


def _environment(given: Mapping[str, Value], where: str) -> dict[str, str]:
    """Convert the knobs of an entry to texts.

    Raises:
        UserError: If a knob has an invalid value, or applies to the whole run.
    """
    env = {key: str(value) for key, value in given.items()}
    for key, text in env.items():
        if key in THE_RUNS_OWN:
            raise UserError(f"{where}{key}: applies to the whole run. Set it in the environment of `run`")
        if key == RECIPE_KNOB and os.path.isabs(text):
            raise UserError(f"{where}{key}: must name an included recipe. For a file, use the test's key recipe")
        if text and key in SERVERS and not SERVERS[key].fits(text):
            raise UserError(f"{where}{key}: must be {SERVERS[key].allowed}, not {quoted(text)}")
        if kept(key, text) != text:
            raise UserError(f"{where}{key}: contains a user name or a password. Set it in the environment of `run`")
    return env
