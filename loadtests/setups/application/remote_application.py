"""The sample project on another host, of which only the agent there knows where it is."""

from __future__ import annotations

import dataclasses
from typing import Protocol

from loadtests.setups import Setup
from loadtests.setups.application.base import Application


class There(Protocol):
    """The host on which it is."""

    def missing_for(self, setup: Setup) -> str | None:
        """What the host lacks for the setup, in a line; None where all is there."""

    def prepare_sample(self) -> None:
        """Does there what ``Application.prepare`` does. Raises UserError."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class RemoteApplication(Application):
    """The sample project, as a bench needs to know it, ``there``."""

    there: There

    @classmethod
    def of(cls, given: Application, there: There) -> RemoteApplication:
        """The sample project, there."""
        fields = {field.name: getattr(given, field.name) for field in dataclasses.fields(given)}
        return cls(**fields, there=there)

    @property
    def environment(self) -> dict[str, str]:
        """Nothing: the agent adds what it knows."""
        return {}

    def obstacle(self, setup: Setup) -> str | None:
        if setup.stack:
            return f"the stack of {setup.stack} has known vulnerabilities and is served on its own machine alone"
        return self.there.missing_for(setup)

    def prepare(self) -> None:
        self.there.prepare_sample()
