"""Describe how users log in. Passwords and cookies are only in the environment or in the user's file of accounts."""

from __future__ import annotations

import csv
import dataclasses
import functools
import os
from pathlib import Path

from loadtests import files
from loadtests.cleanup.program import SECRET_PREFIX
from loadtests.errors import UserError, shown
from loadtests.workload.request import PATH

PASSWORD, COOKIE = f"{SECRET_PREFIX}PASSWORD", f"{SECRET_PREFIX}COOKIE"
LONGEST_NAME = 254
MAX_ACCOUNTS = 1000  # because all users of a load log in before each trial
MAX_BYTES = 1_000_000
Account = tuple[str, str]  # a user name and a password, or an empty string and a cookie


@dataclasses.dataclass(frozen=True)
class SignIn:
    """A way to log in: with a form as ``user`` or with the accounts in a file, or with a cookie if ``login`` is empty.

    The passwords or the cookie aren't fields, because run.json contains the fields.

    Args:
        login: The path of the page with the login form, or empty.
        user: The name of the user, or empty if there is a file.
        file: The CSV file with the names and passwords of several users.
        users: The number of users in the file, or 1.

    Raises:
        UserError: If a value isn't valid.
    """

    login: str = ""
    user: str = ""
    file: str = dataclasses.field(default="", compare=False)
    users: int = dataclasses.field(default=1, compare=False)

    def __post_init__(self) -> None:
        if self.login and (not PATH.fullmatch(self.login) or self.login.startswith("//")):
            raise UserError(
                f"login: must be the path of the login page, such as /accounts/login/, not '{shown(self.login)}'"
            )
        if bool(self.login) != bool(self.user or self.file):
            raise UserError("login: needs a user name as well. Set login_user")
        if len(self.user) > LONGEST_NAME or not self.user.isprintable():
            raise UserError(f"login_user: must be a line of 1 to {LONGEST_NAME} characters, not '{shown(self.user)}'")

    def accounts(self) -> list[Account]:
        """Return the accounts of all users.

        Raises:
            UserError: If the environment variable isn't set, or the variable or the file isn't valid.
        """
        if self.file:
            return _read(self.file)
        name = PASSWORD if self.login else COOKIE
        value = os.environ.get(name, "")
        if not value:
            what = f"the password of {self.user}" if self.login else "the session cookie of a logged-in user"
            raise UserError(f"{name} is not set. Set it to {what}")
        if not value.isprintable() or not (self.login or value.isascii()):
            raise UserError(f"{name}: contains characters that can't be sent. Copy the value from your browser")
        return [(self.user, value)]

    def __str__(self) -> str:
        return f"signed in at {self.login}" if self.login else "signed in by a cookie"


@functools.cache  # so that a run keeps its accounts if the file is edited or removed
def _read(file: str) -> list[Account]:
    try:
        rows = list(csv.reader(files.read(Path(file), MAX_BYTES).decode("utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{file} cannot be read: {getattr(error, 'strerror', None) or type(error).__name__}") from None
    for number, row in enumerate(rows, start=1):
        if row and not (len(row) == 2 and all(text and text.isprintable() for text in row)):
            raise UserError(f"{file}: line {number} must be a name and a password, such as ada,secret")
    accounts = [(name, password) for name, password in filter(None, rows)]
    if not 1 <= len(accounts) <= MAX_ACCOUNTS:
        raise UserError(f"{file}: the number of accounts must be from 1 to {MAX_ACCOUNTS:,}, not {len(accounts):,}")
    return accounts


def from_options(login: str | None = None, user: str | None = None, accounts: Path | None = None) -> SignIn | None:
    """Return the login from the command line options, or None if users don't log in.

    Without options, users log in with the cookie in the environment, if it is set.

    Raises:
        UserError: If an option or the password is missing, an option and the cookie are both set, or a value isn't
            valid.
    """
    if login is None and user is None and accounts is None:
        found = SignIn() if os.environ.get(COOKIE) else None
    else:
        found = _of_form(login, user, accounts)
    if found is not None:
        found.accounts()  # report a missing password before the project loads
    return found


def _of_form(login: str | None, user: str | None, accounts: Path | None) -> SignIn:
    if os.environ.get(COOKIE):
        raise UserError(f"--login and {COOKIE} can't be combined. Leave one out")
    if user and accounts:
        raise UserError("--login-user and --login-accounts can't be combined. Leave one out")
    if not login or not (user or accounts):
        missing = "--login, the login page" if not login else "--login-user or --login-accounts"
        raise UserError(f"users log in with --login and --login-user together. Missing: {missing}")
    if accounts is None:
        return SignIn(login, user or "")
    file = str(accounts.absolute())
    return SignIn(login, file=file, users=len(_read(file)))
