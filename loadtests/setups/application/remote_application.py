"""Describe the sample project on another host."""

from __future__ import annotations

import dataclasses
from typing import Protocol

from loadtests.setups import Setup
from loadtests.setups.application.base import Application
from loadtests.setups.variants import parse_environment


class RemoteHost(Protocol):
    """The host that serves a remote application."""

    def missing_for(self, setup: Setup) -> str | None:
        """Return the software that the host lacks for the setup, or None if all software is installed."""

    def prepare_sample(self) -> None:
        """Run ``Application.prepare`` on the host.

        Raises:
            UserError: If the command fails.
        """


@dataclasses.dataclass(frozen=True, kw_only=True)
class RemoteApplication(Application):
    """The sample project on a ``remote`` host. The agent on that host finds the project's directory."""

    remote: RemoteHost

    @classmethod
    def of(cls, given: Application, remote: RemoteHost) -> RemoteApplication:
        fields = {field.name: getattr(given, field.name) for field in dataclasses.fields(given)}
        return cls(**fields, remote=remote)

    @property
    def environment(self) -> dict[str, str]:
        """An empty dictionary, because the agent adds the environment variables."""
        return {}

    def obstacle(self, setup: Setup) -> str | None:
        if setup.stack:
            return f"the stack of {setup.stack} has known vulnerabilities and is only served on the local machine"
        unfit = next((why for one in parse_environment(setup.variant) if (why := setup.unfit(one))), None)
        return unfit or self.remote.missing_for(setup)

    def prepare(self) -> None:
        self.remote.prepare_sample()
