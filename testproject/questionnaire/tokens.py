"""Sign a respondent in with a signed token that expires after a few minutes and works once (questionnaire/used.py)."""

import dataclasses
import uuid

from django.core import signing

GOOD_FOR_S = 300


class Refused(Exception):
    """A token that is not accepted, with the reason."""


@dataclasses.dataclass(frozen=True)
class Ticket:
    """The content of a token: the respondent, and the id for the record of its use."""

    respondent: str
    id: str


def issue(respondent: str) -> str:
    """Return a new token for a respondent."""
    return _signer().sign_object({"respondent": respondent, "id": uuid.uuid4().hex})


def read(token: str) -> Ticket:
    """Return the content of a token.

    Raises:
        Refused: If the token is forged or too old.
    """
    try:
        return Ticket(**_signer().unsign_object(token, max_age=GOOD_FOR_S))
    except signing.SignatureExpired:
        raise Refused(f"This link has expired: it was valid for {GOOD_FOR_S // 60} minutes.") from None
    except (signing.BadSignature, ValueError, TypeError):
        raise Refused("This link is not valid: its signature is wrong.") from None


def _signer() -> signing.TimestampSigner:
    return signing.TimestampSigner(salt="questionnaire.tokens")
