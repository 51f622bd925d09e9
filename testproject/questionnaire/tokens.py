"""The token that signs a respondent in: signed, good for some minutes, and for one use (questionnaire/used.py)."""

import dataclasses
import uuid

from django.core import signing

GOOD_FOR_S = 300


class Refused(Exception):
    """A token that signs nobody in, with the reason."""


@dataclasses.dataclass(frozen=True)
class Ticket:
    """The content of a token: its respondent, and its id, by which its use is noted."""

    respondent: str
    id: str


def issue(respondent: str) -> str:
    """A new token for a respondent."""
    return _signer().sign_object({"respondent": respondent, "id": uuid.uuid4().hex})


def read(token: str) -> Ticket:
    """The content of a token. Raises Refused for one that is forged or too old."""
    try:
        return Ticket(**_signer().unsign_object(token, max_age=GOOD_FOR_S))
    except signing.SignatureExpired:
        raise Refused(f"This link has expired: it was good for {GOOD_FOR_S // 60} minutes.") from None
    except (signing.BadSignature, ValueError, TypeError):
        raise Refused("This link is not one of ours: its signature is wrong.") from None


def _signer() -> signing.TimestampSigner:
    return signing.TimestampSigner(salt="questionnaire.tokens")
