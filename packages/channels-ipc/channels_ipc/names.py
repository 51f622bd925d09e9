"""What the name of a channel says about who receives on it."""

import re
import secrets
from functools import lru_cache

# new_channel() names are "<prefix>.<process>!<local part>"; the process is one that has a doorbell.
PROCESS = re.compile(r"ipc[0-9a-f]{16}")
_OWNER = re.compile(rf".*\.({PROCESS.pattern})!.*")


def new_process() -> str:
    """A name for this process that no other has."""
    return f"ipc{secrets.token_hex(8)}"


def is_local(channel: str) -> bool:
    """Whether at most one process receives on `channel`; on others any may."""
    return "!" in channel


@lru_cache(maxsize=1024)  # asked several times a message
def owner_of(channel: str) -> str | None:
    """The process that alone receives on `channel`; None if any may, or if the name is no process's."""
    if not is_local(channel):
        return None
    match = _OWNER.fullmatch(channel)
    return match[1] if match else None


def non_local(channel: str) -> str:
    """The name up to and including its "!", or all of it."""
    return channel[: channel.index("!") + 1] if is_local(channel) else channel
