"""Find the process that receives on a channel from the channel's name."""

import re
import secrets
from functools import lru_cache

# new_channel() returns "<prefix>.<process>!<local part>" with the name of a process that has a doorbell.
PROCESS = re.compile(r"ipc[0-9a-f]{16}")
_OWNER = re.compile(rf".*\.({PROCESS.pattern})!.*")


def new_process() -> str:
    """Return a unique name for this process."""
    return f"ipc{secrets.token_hex(8)}"


def is_local(channel: str) -> bool:
    """Return whether at most one process receives on `channel`. Any process may receive on other channels."""
    return "!" in channel


@lru_cache(maxsize=4096)  # because the layer calls owner_of() several times for each message, like non_local()
def owner_of(channel: str) -> str | None:
    """Return the process that owns `channel`, or None if any process may receive or the name contains no process."""
    if not is_local(channel):
        return None
    match = _OWNER.fullmatch(channel)
    return match[1] if match else None


@lru_cache(maxsize=4096)
def non_local(channel: str) -> str:
    """Return the name up to and including its "!", or the whole name if it contains no "!"."""
    return channel[: channel.index("!") + 1] if is_local(channel) else channel
