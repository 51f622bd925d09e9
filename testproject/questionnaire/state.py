"""A respondent's state, and its blob in the session: JSON, padded to the length of a real survey's and encrypted. No
Django in here."""

import base64
import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from questionnaire.definition import Answer


class TooLarge(Exception):
    """A state that needs more bytes than a blob has."""


@dataclasses.dataclass(frozen=True)
class State:
    """A respondent, whether they have begun, their answers by page, and the reference of their submission."""

    respondent: str
    begun: bool = False
    answers: Mapping[str, Answer] = dataclasses.field(default_factory=dict)
    reference: str = ""


def pack(state: State, secret: str, size: int) -> str:
    """The blob of a state; ``size`` is in bytes, before encryption. Raises TooLarge."""
    text = json.dumps(dataclasses.asdict(state), ensure_ascii=False, separators=(",", ":")).encode()
    if len(text) > size:
        raise TooLarge(f"a state of {len(text)} bytes does not fit into {size}: set QUESTIONNAIRE_STATE_BYTES higher")
    # JSON may be followed by blanks.
    return _cipher(secret).encrypt(text.ljust(size)).decode()


def unpack(blob: str | None, secret: str) -> State | None:
    """The state in a blob; None where there is none, or it is not of this secret."""
    from cryptography.fernet import InvalidToken

    if not isinstance(blob, str):
        return None
    try:
        return State(**json.loads(_cipher(secret).decrypt(blob)))
    except (InvalidToken, ValueError, TypeError):
        return None


@functools.lru_cache(maxsize=2)
def _cipher(secret: str) -> Any:
    from cryptography.fernet import Fernet  # at the first use: for other endpoints servers stay as small as they are

    digest = hashlib.sha256(b"questionnaire.state:" + secret.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
