"""Recognize possible secrets, by their names or because they look random.

The rules prefer false alarms. If a secret is kept by mistake, everyone who has the file can read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

REPLACED = "REPLACED"
# The options whose values a run folder doesn't contain. ``without_secret_headers`` handles the headers of requests, and
# ``without_accounts`` the accounts in URLs. The secrets of logged-in users stay in the environment
# (``cleanup.program.SECRET_PREFIX``).
HEADER = "--header"  # the option for a header, which can contain a secret
SECRET_OPTIONS = (HEADER, "--ws-subprotocol")

# Texts that mark a secret anywhere in a name, after removing all characters except letters and digits.
_TELLING = re.compile(
    r"auth(?!or(?!i[sz]))|token|sess(ion|id)|secret|credential|signature|csrf|xsrf|cookie|passw|passphrase|passcode|pwd"
    r"|(api|access|account|license|private|subscription|functions)key|bearer|jwt|nonce|assertion|saml|verifier|captcha"
    r"|cardnumber"
)
# Words that mark a secret only if they are a whole word, because many harmless names contain them.
_TELLING_WORDS = {"cvc", "cvv", "hmac", "otp", "pass", "pin", "pw", "sess", "sid", "sig", "ssn"}
# Words that mark a secret in a name, and also in a path before a part that is a key, as in ``/invite/550e8400-.../``.
_DOORS = {"activate", "activation", "confirm", "confirmation", "invitation", "invitations", "invite", "magic"}
_DOORS |= {"recover", "recovery", "reset", "token", "unsubscribe", "verification", "verify"}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

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
_RUN = re.compile(r"[A-Za-z0-9_+~-]{10,}={0,2}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
# Tokens switch often between letters and digits. Human texts such as 2024sale or iphone15pro switch rarely.
_RANDOM = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z0-9]{10})[0-9]*(?:[A-Za-z]+[0-9]+){2}")
_KEY = re.compile(r"(?=[A-Za-z-]*[0-9])(?=[0-9-]*[A-Za-z])[A-Za-z0-9-]{6,}")


def telling(name: str) -> bool:
    """Return whether this name marks a secret, such as ``X-Auth-Token``, ``csrfmiddlewaretoken`` or ``apiKey``."""
    squeezed = re.sub(r"[^a-z0-9]", "", name.lower())
    words = {word.lower() for word in _WORD.findall(name)}
    return _TELLING.search(squeezed) is not None or not words.isdisjoint(_TELLING_WORDS | _DOORS)


def without_secret_headers(headers: Iterable[Iterable[str]]) -> list[list[str]]:
    """Return the headers, without the values of secret headers, such as cookies."""
    return [[name, REPLACED if telling(name) else value] for name, value in headers]


def opens_door(part: str) -> bool:
    """Return whether a key is a secret if it follows this part of a path, as in ``/invite/550e8400-.../``."""
    return any(word.lower() in _DOORS for word in _WORD.findall(part))


def key_looking(part: str) -> bool:
    """Return whether a part of a path mixes letters and digits, like a UUID."""
    return _KEY.search(part) is not None


def without_accounts(text: str) -> str:
    """Replace the user and password in each URL of a text, except the user in SSH addresses."""
    return _ACCOUNT.sub(f"{REPLACED}@", text)


def without_login(url: str) -> str:
    """Return a URL without user and password, also for invalid URLs such as ``user:password@host``."""
    return _LOGIN.sub(r"\1", url)


def scrubbed(text: str) -> str:
    """Replace possible secrets in a text: users in URLs, values whose names mark a secret, and random characters.

    UUIDs are kept, because most projects identify their objects with them.
    """
    named = without_named(without_accounts(text))
    return _RUN.sub(lambda run: REPLACED if _RANDOM.search(_UUID.sub(" ", run[0])) else run[0], named)


def without_named(text: str) -> str:
    """Replace values in a text whose names mark a secret, such as ``?password=...``."""
    parts, done = [], 0
    for match in _NAMED.finditer(text):
        value = (_CONTENT if match[2] == ">" else _VALUE).match(text, match.end())
        if match.start() >= done and value and telling(match[1]):
            parts += [text[done : match.end()], value[value.lastgroup] if value.lastgroup else "", REPLACED]
            done = value.end()
    return "".join([*parts, text[done:]])
