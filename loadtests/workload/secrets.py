"""Recognize possible secrets in recordings, by their names or because they look random.

The rules prefer false alarms. If a value is replaced by mistake, a remark names it, and the user can keep it. If a
secret is kept by mistake, everyone who has the file can read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

REPLACED = "REPLACED"
# The options whose values a run folder doesn't contain. ``without_secret_headers`` handles the headers of requests, and
# ``without_accounts`` the accounts in URLs. The secrets of logged-in users stay in the environment
# (``cleanup.program.SECRET_PREFIX``).
HEADER = "--header"  # the option for a header, which can contain a secret
SECRET_OPTIONS = (HEADER, "--ws-cookie", "--ws-header", "--ws-subprotocol")

# Texts that mark a secret anywhere in a name, after removing all characters except letters and digits.
_TELLING = re.compile(
    r"auth(?!or(?!i[sz]))|token|sess(ion|id)|secret|credential|signature|csrf|xsrf|cookie|passw|passphrase|passcode|pwd"
    r"|(api|access|account|license|private|subscription|functions)key|bearer|jwt|nonce|assertion|saml|verifier|captcha"
    r"|cardnumber"
)
# Words that mark a secret only if they are a whole word, because many harmless names contain them.
_TELLING_WORDS = {"cvc", "cvv", "hmac", "otp", "pass", "pin", "pw", "sess", "sid", "sig", "ssn"}
# Names that are often harmless, such as the code of a country or the state of an order, but sometimes mark a secret.
_SOMETIMES = re.compile(r"x?(code|state|ticket|access|refresh|(access|device|login|security|sms|user)code)")
_SOMETIMES_WORDS = {"activation", "invitation", "invite", "magic", "recovery", "reset", "verification"}
_DIGIT = re.compile(r"[0-9]")
GLIMPSE = 100  # the number of characters that are examined in a value with such a name
MIN_LENGTH = 6  # the length of a code that is sent to a phone
# The parts of a path after which a secret may follow. In a title with more words, these words are harmless.
_DOORS = {
    "activate", "activation", "confirm", "confirmation", "invitation", "invitations", "invite", "invites", "join",
    "login", "magic", "recover", "recovery", "reset", "share", "shared", "token", "unsubscribe", "verification",
    "verify",
}  # fmt: skip
MAX_WORDS = 3
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_USER = re.compile(r"(?<=://)[^\s/?#\"'<>]*@")
_ACCOUNT = re.compile(r"(?<=://)(?<!ssh://)[^\s/?#\"'<>]*@")
_LOGIN = re.compile(r"^([^/?#]*//)?[^/?#]*@")
# Matches the name in name=value, "name": "value" and <name>value<. Names start at the start of a word, so each name is
# checked only once.
_NAMED = re.compile(r"(?<![\w.-])([\w.-]{1,64})\\?[\"']?\s{0,4}([=:>])\s{0,4}(?:(?:Basic|Bearer)\s{1,4})?")
# Matches a value in quotes, in escaped quotes, or up to a separator. The opening quote is kept.
_VALUE = re.compile(
    r"""(?P<quote>")(?:[^"\\]|\\.)+|(?P<single>')(?:[^'\\]|\\.)+|(?P<escaped>\\")(?:[^"\\]|\\[^"])+|[^\s"'<>&;,\\]+""",
    re.DOTALL,
)
_CONTENT = re.compile(r"[^<>]+")  # the content of an XML element
_RUN = re.compile(r"[A-Za-z0-9_+~-]{16,}={0,2}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_PIECE = re.compile(r"[A-Za-z0-9]{6,}")
# This number of random-looking characters has at least 64 bits, even as hexadecimal digits.
RANDOM_LENGTH = 16
# Tokens switch often between letters and digits. Human texts such as 2024sale or max256gb switch rarely.
CHANGES = 0.2
CAPITALS = (0.35, 0.75)  # the share of capitals in random letters; CamelCase contains fewer, and constants contain more
LONGEST_NUMBER = 23  # a number with more digits isn't an identifier or a time


def telling(name: str) -> bool:
    """Return whether this name marks a secret, such as ``X-Auth-Token``, ``csrfmiddlewaretoken`` or ``apiKey``."""
    squeezed = re.sub(r"[^a-z0-9]", "", name.lower())
    return _TELLING.search(squeezed) is not None or any(word.lower() in _TELLING_WORDS for word in _WORD.findall(name))


def without_secret_headers(headers: Iterable[Iterable[str]]) -> list[list[str]]:
    """Return the headers, without the values of secret headers, such as cookies."""
    return [[name, REPLACED if telling(name) else value] for name, value in headers]


def secret_of_name(name: str, value: str) -> bool:
    """Return whether a value with an ambiguous name is probably a secret, because it isn't a word or a small number.

    ``code=4/0AX4XfWh`` and ``state=af0ifjsldkj`` are secrets, but ``code=DE`` and ``state=open`` aren't.
    """
    squeezed = re.sub(r"[^a-z0-9]", "", name.lower())
    words = {word.lower() for word in _WORD.findall(name)}
    return (_SOMETIMES.fullmatch(squeezed) is not None or bool(words & _SOMETIMES_WORDS)) and (
        len(value) >= MIN_LENGTH and (_DIGIT.search(value) is not None or any(map(_mixed, _PIECE.findall(value))))
    )


def opens_door(part: str) -> bool:
    """Return whether a key is a secret if it follows this part of a path, as in ``/invite/550e8400-.../``."""
    words = [word.lower() for word in _WORD.findall(part)]
    return len(words) <= MAX_WORDS and not _DOORS.isdisjoint(words)


def key_looking(part: str) -> bool:
    """Return whether a part of a path contains a UUID, or letters and digits in one piece."""
    return _UUID.search(part) is not None or any(
        not piece.isalpha() and not piece.isdigit() for piece in _PIECE.findall(part)
    )


def is_uuid(text: str) -> bool:
    """Return whether the text is exactly a UUID."""
    return _UUID.fullmatch(text) is not None


def random_looking(text: str) -> bool:
    """Return whether a text of letters, digits and ``_ + ~ -`` looks random and is long enough for a secret.

    UUIDs don't count, because most projects identify their objects with them.
    """
    pieces = _PIECE.findall(_UUID.sub(" ", text))
    return sum(len(piece) for piece in pieces if _mixed(piece)) >= RANDOM_LENGTH


def without_user(text: str) -> str:
    """Remove the user and password from the URLs in a text."""
    return _USER.sub("", text)


def without_accounts(text: str) -> str:
    """Replace the user and password in each URL of a text, except the user in SSH addresses."""
    return _ACCOUNT.sub(f"{REPLACED}@", text)


def without_login(url: str) -> str:
    """Return a URL without user and password, also for invalid URLs such as ``user:password@host``."""
    return _LOGIN.sub(r"\1", url)


def scrubbed(text: str) -> str:
    """Replace possible secrets in a text: users in URLs, values whose names mark a secret, and random characters."""
    named = without_named(without_user(text))
    return _RUN.sub(lambda match: REPLACED if random_looking(match[0]) else match[0], named)


def without_named(text: str) -> str:
    """Replace values in a text whose names mark a secret, such as ``?password=...``."""
    parts, done = [], 0
    for match in _NAMED.finditer(text):
        if match.start() < done:
            continue
        pattern = _CONTENT if match[2] == ">" else _VALUE
        if not telling(match[1]):
            # Only examine the start of the value, because there may be many long values.
            begin = pattern.match(text, match.end(), match.end() + GLIMPSE)
            if begin is None or not secret_of_name(match[1], begin[0]):
                continue
        value = pattern.match(text, match.end())
        if value:
            parts += [text[done : match.end()], value[value.lastgroup] if value.lastgroup else "", REPLACED]
            done = value.end()
    return "".join([*parts, text[done:]])


def _mixed(piece: str) -> bool:
    """Return whether letters, digits and capitals alternate in a text as often as in random characters."""
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
