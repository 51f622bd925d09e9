"""Describe how the users of a journey log in. The password or the cookie is only in the environment."""

from __future__ import annotations

import dataclasses
import os

from loadtests.cleanup.program import SECRET_PREFIX
from loadtests.errors import UserError, shown
from loadtests.workload.request import PATH

PASSWORD, COOKIE = f"{SECRET_PREFIX}PASSWORD", f"{SECRET_PREFIX}COOKIE"
LONGEST_NAME = 254


@dataclasses.dataclass(frozen=True)
class SignIn:
    """A way to log in: with a form as ``user``, or with a cookie if ``login`` is empty.

    The password or the cookie isn't a field, because run.json contains the fields.

    Args:
        login: The path of the page with the login form, or empty.
        user: The name of the user.

    Raises:
        UserError: If a value isn't valid.
    """

    login: str = ""
    user: str = ""

    def __post_init__(self) -> None:
        if self.login and (not PATH.fullmatch(self.login) or self.login.startswith("//")):
            raise UserError(
                f"login: must be the path of the login page, such as /accounts/login/, not '{shown(self.login)}'"
            )
        if bool(self.login) != bool(self.user):
            raise UserError("login: needs a user name as well. Set login_user")
        if len(self.user) > LONGEST_NAME or not self.user.isprintable():
            raise UserError(f"login_user: must be a line of 1 to {LONGEST_NAME} characters, not '{shown(self.user)}'")

    def secret(self) -> str:
        """Return the password or the cookie.

        Raises:
            UserError: If the environment variable isn't set or isn't valid.
        """
        name = PASSWORD if self.login else COOKIE
        value = os.environ.get(name, "")
        if not value:
            what = f"the password of {self.user}" if self.login else "the session cookie of a logged-in user"
            raise UserError(f"{name} is not set. Set it to {what}")
        if not value.isprintable() or not (self.login or value.isascii()):
            raise UserError(f"{name}: contains characters that can't be sent. Copy the value from your browser")
        return value

    def __str__(self) -> str:
        return f"signed in at {self.login}" if self.login else "signed in by a cookie"


def from_options(login: str | None, user: str | None) -> SignIn | None:
    """Return the login from the command line options, or None if users don't log in.

    Without options, users log in with the cookie in the environment, if it is set.

    Raises:
        UserError: If an option is missing, or an option and the cookie are both set.
    """
    if login is None and user is None:
        return SignIn() if os.environ.get(COOKIE) else None
    if os.environ.get(COOKIE):
        raise UserError(f"--login and {COOKIE} can't be combined. Leave one out")
    if not login or not user:
        missing = "--login, the login page" if not login else "--login-user, the user name"
        raise UserError(f"users log in with --login and --login-user together. Missing: {missing}")
    return SignIn(login, user)
