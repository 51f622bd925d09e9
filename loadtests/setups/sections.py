"""Read supervisor files. One section is for the benchmark, and the other sections describe supervisor's programs."""

from __future__ import annotations

import configparser
import os
from collections.abc import Iterable
from pathlib import Path

from loadtests.errors import UserError, unknown
from loadtests.files import ROOT

PROGRAMS = ("group", "program", "fcgi-program")


class SupervisorSection:
    """The section ``[<kind>:<name>]`` of a supervisor file, which supervisor ignores.

    ``name`` is the name of the file without its extension.

    Raises:
        UserError: If the file lacks this section, or a group or program with this name.
    """

    def __init__(self, file: Path, kind: str) -> None:
        self.file = file
        self.name = file.stem
        self.kind = kind
        # As in supervisor, "; " starts a comment.
        config = configparser.RawConfigParser(inline_comment_prefixes=(";",), strict=False)
        try:
            config.read_string(file.read_text(encoding="utf-8"), str(file))
        except (OSError, configparser.Error) as error:
            raise self._wrong(str(error)) from None
        if not config.has_section(f"{kind}:{self.name}"):
            raise self._wrong(f"it lacks '{kind}:{self.name}'")
        if not any(config.has_section(f"{program}:{self.name}") for program in PROGRAMS):
            raise self._wrong(f"it lacks 'group:{self.name}'")
        self._values = config[f"{kind}:{self.name}"]

    def text(self, key: str, default: str | None = None) -> str:
        """Return the value of a key.

        Raises:
            UserError: If the key is missing and there is no default.
        """
        value = self._values.get(key, default)
        if value is None:
            raise self._wrong(f"it lacks '{key}'")
        return value

    def words(self, key: str, known: Iterable[str]) -> tuple[str, ...]:
        """Return the words in a key's value, or an empty tuple if the key is missing.

        Raises:
            UserError: If a word isn't known.
        """
        words = tuple(self._values.get(key, "").replace(",", " ").split())
        for word in words:
            if word not in known:
                raise UserError(f"{key} of [{self._values.name}]: {unknown('word', word, known)}")
        return words

    def word(self, key: str, known: Iterable[str]) -> str:
        """Return the only word in a key's value, or an empty string if the key is missing.

        Raises:
            UserError: If the word isn't known, or there are several words.
        """
        words = self.words(key, known)
        if len(words) > 1:
            raise UserError(f"{key} of [{self._values.name}]: must be one word, not {len(words)}")
        return words[0] if words else ""

    def _wrong(self, what: str) -> UserError:
        return UserError(
            f"{os.path.relpath(self.file, ROOT)} does not describe a {self.kind}: {what}. The file must have "
            f"[group:{self.name}], and [{self.kind}:{self.name}] with its keys"
        )
