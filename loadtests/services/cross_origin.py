"""Web pages that ask what listens on this machine's loopback.

Any page that somebody has open may send requests there, also with a name of its own that leads to 127.0.0.1 (DNS
rebinding). A service without users therefore refuses what a browser sends for a page.
"""

from __future__ import annotations

import re

_OWN_NAMES = re.compile(rb"(127\.0\.0\.1|localhost)(:[0-9]+)?", re.IGNORECASE)
_BY_A_PERSON = (b"none", b"same-origin")


def of_a_page(name: bytes, value: bytes) -> bool:
    """Whether a header of a request says that a web page of elsewhere sends it: any ``Origin``, a ``Sec-Fetch-Site``
    that is neither this site nor a person, or a ``Host`` that is not the loopback by address or by name."""
    name = name.lower()
    if name == b"host":
        return _OWN_NAMES.fullmatch(value) is None
    if name == b"sec-fetch-site":
        return value.lower() not in _BY_A_PERSON
    return name == b"origin"
