"""What in a recording may be a secret: by the name that it has, or because it looks as if it was drawn by chance.

A guess, made so that it errs towards too much: what is replaced by mistake is named and can be kept, what is kept by
mistake is in the hands of whoever gets the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

REPLACED = "REPLACED"
# The options whose values a run folder never keeps. Headers of requests have ``without_secret_headers``, accounts in
# URLs ``without_accounts``. Secrets of users who sign in stay in the environment (``cleanup.program.SECRET_PREFIX``).
SECRET_OPTIONS = ("--ws-cookie", "--ws-header", "--ws-subprotocol")

# Parts of a name that tell a secret wherever they stand in it, once all but letters and digits is left out.
_TELLING = re.compile(
    r"auth(?!or(?!i[sz]))|token|sess(ion|id)|secret|credential|signature|csrf|xsrf|cookie|passw|passphrase|passcode|pwd"
    r"|(api|access|account|license|private|subscription|functions)key|bearer|jwt|nonce|assertion|saml|verifier|captcha"
    r"|cardnumber"
)
# Words too short for that: they are in many harmless names.
_TELLING_WORDS = {"cvc", "cvv", "hmac", "otp", "pass", "pin", "pw", "sess", "sid", "sig", "ssn"}
# What is often a word or a small number, as the code of a country and the state of an order, and else opens a door.
_SOMETIMES = re.compile(r"x?(code|state|ticket|access|refresh|(access|device|login|security|sms|user)code)")
_SOMETIMES_WORDS = {"activation", "invitation", "invite", "magic", "recovery", "reset", "verification"}
_DIGIT = re.compile(r"[0-9]")
GLIMPSE = 100  # characters of such a value
LEAST_LENGTH = 6  # of a code that is sent to a telephone
# The parts of a path that are followed by what opens a door; in a headline they are words among others.
_DOORS = {
    "activate", "activation", "confirm", "confirmation", "invitation", "invitations", "invite", "invites", "join",
    "login", "magic", "recover", "recovery", "reset", "share", "shared", "token", "unsubscribe", "verification",
    "verify",
}  # fmt: skip
MOST_WORDS = 3
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_USER = re.compile(r"(?<=://)[^\s/?#\"'<>]*@")
_ACCOUNT = re.compile(r"(?<=://)(?<!ssh://)[^\s/?#\"'<>]*@")
_LOGIN = re.compile(r"^([^/?#]*//)?[^/?#]*@")
# name=value, "name": "value", <name>value<. A name begins where no other does, so that none is looked at twice.
_NAMED = re.compile(r"(?<![\w.-])([\w.-]{1,64})\\?[\"']?\s{0,4}([=:>])\s{0,4}(?:(?:Basic|Bearer)\s{1,4})?")
# In quotes, in quotes that are escaped themselves, or up to what ends a value. What stands before it is kept.
_VALUE = re.compile(
    r"""(?P<quote>")(?:[^"\\]|\\.)+|(?P<single>')(?:[^'\\]|\\.)+|(?P<escaped>\\")(?:[^"\\]|\\[^"])+|[^\s"'<>&;,\\]+""",
    re.DOTALL,
)
_CONTENT = re.compile(r"[^<>]+")  # of an element
_RUN = re.compile(r"[A-Za-z0-9_+~-]{16,}={0,2}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_PIECE = re.compile(r"[A-Za-z0-9]{6,}")
# This number of characters that look random holds 64 bits or more, even as hexadecimal digits.
RANDOM_LENGTH = 16
# Letters and digits follow each other at random in a token, and in few blocks in what people write: 2024sale, max256gb.
CHANGES = 0.2
CAPITALS = (0.35, 0.75)  # the share of capitals among random letters; in CamelCase it is less, in CAPITALS it is all
LONGEST_NUMBER = 23  # a larger one is no identifier or time


def telling(name: str) -> bool:
    """Whether what has this name is likely a secret: ``X-Auth-Token``, ``csrfmiddlewaretoken``, ``apiKey``."""
    squeezed = re.sub(r"[^a-z0-9]", "", name.lower())
    return _TELLING.search(squeezed) is not None or any(word.lower() in _TELLING_WORDS for word in _WORD.findall(name))


def without_secret_headers(headers: Iterable[Iterable[str]]) -> list[list[str]]:
    """Return the headers, without the values of secret headers, such as cookies."""
    return [[name, REPLACED if telling(name) else value] for name, value in headers]


def secret_of_name(name: str, value: str) -> bool:
    """Whether a value is likely a secret, by a name that not always tells one and by being neither a word nor a small
    number: ``code=4/0AX4XfWh``, ``state=af0ifjsldkj``, and not ``code=DE``, ``state=open``."""
    squeezed = re.sub(r"[^a-z0-9]", "", name.lower())
    words = {word.lower() for word in _WORD.findall(name)}
    return (_SOMETIMES.fullmatch(squeezed) is not None or bool(words & _SOMETIMES_WORDS)) and (
        len(value) >= LEAST_LENGTH and (_DIGIT.search(value) is not None or any(map(_mixed, _PIECE.findall(value))))
    )


def opens_door(part: str) -> bool:
    """Whether the parts of a path after this one open a door where they look like a key: ``/invite/550e8400-.../``."""
    words = [word.lower() for word in _WORD.findall(part)]
    return len(words) <= MOST_WORDS and not _DOORS.isdisjoint(words)


def key_looking(part: str) -> bool:
    """Whether a part of a path is a UUID, or has letters and digits in one piece."""
    return _UUID.search(part) is not None or any(
        not piece.isalpha() and not piece.isdigit() for piece in _PIECE.findall(part)
    )


def is_uuid(text: str) -> bool:
    """Whether it is a UUID and nothing else."""
    return _UUID.fullmatch(text) is not None


def random_looking(text: str) -> bool:
    """Whether a run of letters, digits, ``_ + ~ -`` looks drawn by chance and is long enough to open a door. UUIDs do
    not count: they are what most projects call their objects by."""
    pieces = _PIECE.findall(_UUID.sub(" ", text))
    return sum(len(piece) for piece in pieces if _mixed(piece)) >= RANDOM_LENGTH


def without_user(text: str) -> str:
    """The text without the user and password of the URLs in it."""
    return _USER.sub("", text)


def without_accounts(text: str) -> str:
    """The text with the user and password of each URL in it replaced; a user of SSH has none."""
    return _ACCOUNT.sub(f"{REPLACED}@", text)


def without_login(url: str) -> str:
    """A URL as it can be printed, also one that is none, such as ``user:password@host``: without user and password."""
    return _LOGIN.sub(r"\1", url)


def scrubbed(text: str) -> str:
    """The text with what may be a secret replaced: users of URLs left out, values of telling names, random runs."""
    named = without_named(without_user(text))
    return _RUN.sub(lambda match: REPLACED if random_looking(match[0]) else match[0], named)


def without_named(text: str) -> str:
    """The text with the values of telling names replaced: ``?password=...``."""
    parts, done = [], 0
    for match in _NAMED.finditer(text):
        if match.start() < done:
            continue
        pattern = _CONTENT if match[2] == ">" else _VALUE
        if not telling(match[1]):
            begin = pattern.match(text, match.end(), match.end() + GLIMPSE)  # a value may be long, and they may be many
            if begin is None or not secret_of_name(match[1], begin[0]):
                continue
        value = pattern.match(text, match.end())
        if value:
            parts += [text[done : match.end()], value[value.lastgroup] if value.lastgroup else "", REPLACED]
            done = value.end()
    return "".join([*parts, text[done:]])


def _mixed(piece: str) -> bool:
    """Whether the characters of a piece are mixed as chance mixes them."""
    letters = [character for character in piece if character.isalpha()]
    if not letters:
        return len(piece) > LONGEST_NUMBER
    changes = sum(_kind(before) != _kind(after) for before, after in pairwise(piece)) / len(piece)
    if changes < CHANGES:
        return False
    capitals = sum(character.isupper() for character in letters) / len(letters)
    return len(letters) < len(piece) or CAPITALS[0] <= capitals <= CAPITALS[1]


def _kind(character: str) -> str:
    return "digit" if character.isdigit() else "capital" if character.isupper() else "letter"
