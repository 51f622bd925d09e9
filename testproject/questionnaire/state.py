"""Convert a respondent's state to and from the session's blob, without Django.

The blob is JSON that is padded to the length of a real survey's state and then encrypted.
"""

import base64
import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from questionnaire.definition import Answer


class TooLarge(Exception):
    """The state exceeds the size of a blob."""


@dataclasses.dataclass(frozen=True)
class State:
    """A respondent, whether the respondent has started, the answers by page, and the reference of the submission."""

    respondent: str
    begun: bool = False
    answers: Mapping[str, Answer] = dataclasses.field(default_factory=dict)
    reference: str = ""


def pack(state: State, secret: str, size: int) -> str:
    """Pack a state into a blob.

    Args:
        state: The state to convert.
        secret: The secret for the encryption.
        size: The size of the padded state in bytes, before encryption.

    Raises:
        TooLarge: If the state exceeds the size.
    """
    text = json.dumps(dataclasses.asdict(state), ensure_ascii=False, separators=(",", ":")).encode()
    if len(text) > size:
        raise TooLarge(f"a state of {len(text)} bytes exceeds {size} bytes: increase QUESTIONNAIRE_STATE_BYTES")
    # Spaces may follow a JSON document.
    return _cipher(secret).encrypt(text.ljust(size)).decode()


def unpack(blob: str | None, secret: str) -> State | None:
    """Return the state in a blob, or None if there is no blob or it was encrypted with another secret."""
    from cryptography.fernet import InvalidToken

    if not isinstance(blob, str):
        return None
    try:
        return State(**json.loads(_cipher(secret).decrypt(blob)))
    except (InvalidToken, ValueError, TypeError):
        return None


@functools.lru_cache(maxsize=2)
def _cipher(secret: str) -> Any:
    # imported at the first use, so that servers stay small if they serve only other endpoints
    from cryptography.fernet import Fernet

    digest = hashlib.sha256(b"questionnaire.state:" + secret.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
