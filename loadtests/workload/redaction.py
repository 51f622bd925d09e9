"""Remove secrets from recordings: drop or replace them, and report their names."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from loadtests.errors import UserError
from loadtests.formatting import plural
from loadtests.workload.secrets import (
    REPLACED,
    is_uuid,
    key_looking,
    opens_door,
    random_looking,
    scrubbed,
    secret_of_name,
    telling,
)

# The headers of a logged-in user, which --keep-cookies keeps.
OF_A_LOGIN = {
    "authorization", "cookie", "proxy-authorization", "x-api-key", "x-csrf-token", "x-csrftoken", "x-xsrf-token",
}  # fmt: skip
# A file name with a hash of its content isn't a secret, because every visitor requests it.
_ASSET = re.compile(r".+\.(avif|css|gif|ico|jpe?g|m?js|map|mp4|otf|png|svg|ttf|wasm|webmanifest|webp|woff2?)", re.I)
_PART = re.compile(rb'(?i)(content-disposition:[^\r\n]*?\bname="([^"\r\n]*)"[^\r\n]*)')
MAX_NAMES, LONGEST_NAME = 30, 40
KEYS = 2  # maximum number of keys after a part of a path such as /reset/: /reset/MQ/c9x3kd-.../


@dataclasses.dataclass(frozen=True)
class Keep:
    """The possible secrets that the user wants to keep.

    Args:
        headers: The names of headers.
        fields: The names of query parameters, and of fields in forms and JSON.
        cookies: Whether to keep cookies and other headers of logged-in users.
        paths: Whether to keep random-looking parts of paths.
    """

    headers: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    cookies: bool = False
    paths: bool = False


class Redaction:
    """Remove secrets from requests, one after the other, and remember their names."""

    def __init__(self, keep: Keep) -> None:
        self._headers = {name.lower() for name in keep.headers} | (OF_A_LOGIN if keep.cookies else set())
        self._fields = {name.lower() for name in keep.fields}
        self._keep = keep
        self._known: set[str] = set()
        self._dropped: Counter[str] = Counter()
        self._replaced: Counter[str] = Counter()
        self._kept_secret: Counter[str] = Counter()
        self._kept_headers: Counter[str] = Counter()
        self._kept_fields: Counter[str] = Counter()
        self._unreadable = 0

    def wants(self, header: str) -> bool:
        """Return whether the user keeps this header."""
        return header.lower() in self._headers

    def headers(self, headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Return the headers without possible secrets."""
        return tuple((name, value) for name, value in headers if self._keeps_header(name, value))

    def path(self, path: str) -> str:
        """Replace possible secrets in a percent-encoded path and its query."""
        path, mark, query = path.partition("?")
        parts = path.split("/")
        doors = [opens_door(unquote(part)) for part in parts]
        new = [self._segment(part, any(doors[max(0, place - KEYS) : place])) for place, part in enumerate(parts)]
        return "/".join(new) + mark + (self._pairs(query, any(doors)) if query else "")

    def body(self, body: bytes | None, content_type: str) -> bytes | None:
        """Replace possible secrets in a body. If there are no secrets, return the same bytes."""
        if not body:
            return body
        if "multipart/" in content_type:
            return self._multipart(body)
        try:
            text = body.decode()
        except UnicodeDecodeError:
            self._unreadable += 1
            return body
        if "x-www-form-urlencoded" in content_type:
            return self._pairs(text).encode()
        try:
            values = json.loads(text)
            new = self._json("", values, secret=False)
        except (ValueError, RecursionError):
            return self._text(text).encode()
        return body if new == values else json.dumps(new, separators=(",", ":")).encode()

    def remarks(self) -> list[str]:
        """Return remarks with the names of dropped, replaced and kept secrets.

        Raises:
            UserError: If the requests don't contain a name that the user wants to keep.
        """
        for option, names in (("--keep-header", self._keep.headers), ("--keep-field", self._keep.fields)):
            for name in names:
                if name.lower() not in self._known:
                    raise UserError(f"{option} {name}: the requests don't contain this name")
        unreadable = plural(self._unreadable, "file or body", "files or bodies")
        return [
            *_named("dropped headers that may be secret", self._dropped, "--keep-header NAME keeps a header"),
            *_named(
                f"replaced by {REPLACED}, because it may be secret", self._replaced,
                "--keep-field NAME keeps a field, and --keep-paths the paths",
            ),
            *_named("kept, although it may be secret", self._kept_secret, "keep the file to yourself"),
            *_named("kept headers", self._kept_headers, ""),
            *_named("kept query parameters and fields", self._kept_fields, ""),
            *([f"kept as recorded: {unreadable} that cannot be read as text"] if self._unreadable else []),
        ]  # fmt: skip

    def _keeps_header(self, name: str, value: str) -> bool:
        self._known.add(name.lower())
        # The boundary in a form's content type is random, but it isn't a secret.
        text = unquote(value)
        secret = telling(name) or secret_of_name(name, text)
        secret = secret or (name.lower() != "content-type" and scrubbed(text) != text)
        kept = not secret or self.wants(name)
        counts = self._kept_headers if not secret else self._kept_secret if kept else self._dropped
        counts[f"header {name}" if secret and kept else name] += 1
        return kept

    def _segment(self, segment: str, behind_door: bool) -> str:
        """Redact a part of a path. ``behind_door`` means that the part may be a key."""
        text = unquote(segment)
        asset = _ASSET.fullmatch(text) and ";" not in text
        new = text if asset else REPLACED if behind_door and key_looking(text) else scrubbed(text)
        if self._keep.paths and new != text:
            self._kept_secret["part of a path"] += 1
            return segment
        if new == text:
            return segment
        self._replaced["part of a path"] += 1
        return quote(new, safe="!$&'()*+,;=:@~")

    def _pairs(self, text: str, behind_door: bool = False) -> str:
        """Redact a query string or a form, field by field."""
        return "&".join(self._pair(pair, behind_door) for pair in text.split("&"))

    def _pair(self, pair: str, behind_door: bool) -> str:
        name, equals, value = pair.partition("=")
        field, old = (unquote_plus(name), unquote_plus(value)) if equals else ("", unquote_plus(name))
        new = self._value(field, old, telling(field) or (behind_door and is_uuid(old)))
        written = (value if equals else name) if new == old else quote_plus(new)
        if not equals:
            return written
        new_field = self._name(field)
        return f"{name if new_field == field else quote_plus(new_field)}={written}"

    def _multipart(self, body: bytes) -> bytes:
        """Redact a multipart form. Each part has headers, an empty line and a value.

        The content of files isn't changed.
        """
        end = b"\r\n" if b"\r\n" in body else b"\n"
        boundary = body.partition(end)[0]
        if not boundary.startswith(b"--"):
            self._unreadable += 1
            return body
        return boundary.join(self._part(part, end) for part in body.split(boundary))

    def _part(self, part: bytes, end: bytes) -> bytes:
        head, gap, value = part.partition(2 * end)
        named = _PART.search(head)
        if not gap or named is None:
            return part
        if b"filename" in named[1]:
            self._unreadable += 1
            return part
        text = value.removesuffix(end).decode(errors="surrogateescape")
        name = named[2].decode(errors="replace")
        new = self._value(name, text, telling(name))
        return head + gap + new.encode(errors="surrogateescape") + value[len(value.removesuffix(end)) :]

    def _json(self, name: str, value: Any, secret: bool) -> Any:
        """Redact a JSON value. ``secret`` means that the name of the value's container marks a secret."""
        secret = secret or telling(name)
        if isinstance(value, dict):
            return {self._name(key): self._json(key, one, secret) for key, one in value.items()}
        if isinstance(value, list):
            return [self._json(name, one, secret) for one in value]
        if isinstance(value, str):
            return self._value(name, value, secret)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value if self._value(name, str(value), secret) == str(value) else 0
        return value

    def _name(self, name: str) -> str:
        """Return the name of a field, or a replacement if the name itself looks random and may be a secret."""
        if not random_looking(name):
            return name
        self._replaced["name of a field"] += 1
        return REPLACED

    def _text(self, text: str) -> str:
        new = scrubbed(text)
        if new != text:
            self._replaced["part of a body"] += 1
        return new

    def _value(self, name: str, value: str, secret: bool) -> str:
        """Return the value of a field with secrets replaced. If ``secret`` is set, replace the whole value."""
        shown = name or "a value without a name"
        self._known.add(shown.lower())
        secret = secret or secret_of_name(name, value)
        new = REPLACED if secret and value else scrubbed(value)
        if new == value:
            self._kept_fields[shown] += 1
        elif shown.lower() in self._fields:
            self._kept_secret[f"field {shown}"] += 1
            return value
        else:
            self._replaced[f"field {shown}"] += 1
        return new


def _named(what: str, counts: Counter[str], advice: str) -> list[str]:
    """Return a remark with the most frequent names, or an empty list if there are no names."""
    if not counts:
        return []
    names = [_shown(name) for name, _ in counts.most_common(MAX_NAMES)]
    more = f" and {len(counts) - MAX_NAMES:,} more" if len(counts) > MAX_NAMES else ""
    return [f"{what}: {', '.join(dict.fromkeys(names))}{more}" + (f"; {advice}" if advice else "")]


def _shown(name: str) -> str:
    """Return a name in a printable form, because it can contain any text, including a secret."""
    kind, space, own = name.rpartition(" ") if name.startswith(("field ", "header ")) else ("", "", name)
    if scrubbed(own) != own:
        return f"{kind}{space}(a random-looking name)"
    printable = "".join(character if character.isprintable() else "?" for character in own)
    return kind + space + (printable if len(printable) <= LONGEST_NAME else f"{printable[:LONGEST_NAME]}...")
