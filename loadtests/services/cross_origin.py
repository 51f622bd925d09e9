"""Recognize requests that web pages send to services on this machine's loopback interface.

Any open web page can send requests to the loopback interface, even through the page's own domain name if that name
resolves to 127.0.0.1 (DNS rebinding). A service without logins therefore refuses the requests that a browser sends for
a page.
"""

from __future__ import annotations

import re

_OWN_NAMES = re.compile(rb"(127\.0\.0\.1|localhost)(:[0-9]+)?", re.IGNORECASE)
_BY_A_PERSON = (b"none", b"same-origin")


def of_a_page(name: bytes, value: bytes) -> bool:
    """Return whether a request header shows that a web page of another site sent the request.

    Each of these headers is a sign: any ``Origin``, a ``Sec-Fetch-Site`` other than ``none`` or ``same-origin``, or a
    ``Host`` that isn't the address or name of the loopback interface.
    """
    name = name.lower()
    if name == b"host":
        return _OWN_NAMES.fullmatch(value) is None
    if name == b"sec-fetch-site":
        return value.lower() not in _BY_A_PERSON
    return name == b"origin"
