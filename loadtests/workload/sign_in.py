"""Who the users of a journey are signed in as; what must stay secret of that is in the environment alone."""

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
    """Users sign in at ``login``, the path of a page with a form for that, as ``user``; where there is none, with a
    cookie. The password, or the cookie, is no part of this: run.json keeps it.

    Raises UserError where a value makes no sense.
    """

    login: str = ""
    user: str = ""

    def __post_init__(self) -> None:
        if self.login and (not PATH.fullmatch(self.login) or self.login.startswith("//")):
            raise UserError(f"login: is '{shown(self.login)}'; the path of a page is needed, such as /accounts/login/")
        if bool(self.login) != bool(self.user):
            raise UserError("login: is the page to sign in on, and goes with a user's name")
        if len(self.user) > LONGEST_NAME or not self.user.isprintable():
            raise UserError(f"login_user: is '{shown(self.user)}'; a line of 1 to {LONGEST_NAME} characters is it")

    def secret(self) -> str:
        """The password, or the cookie. Raises UserError where it is not there, or no line of text."""
        name = PASSWORD if self.login else COOKIE
        value = os.environ.get(name, "")
        if not value:
            what = f"the password of {self.user}" if self.login else "the cookie of somebody who is signed in"
            raise UserError(f"users are to sign in: set {name} to {what}")
        if not value.isprintable() or not (self.login or value.isascii()):
            raise UserError(f"{name}: is no line of text that can be sent; write it as the browser has it")
        return value

    def __str__(self) -> str:
        return f"signed in at {self.login}" if self.login else "signed in by a cookie"


def from_options(login: str | None, user: str | None) -> SignIn | None:
    """How users sign in, of what the command line says: on a page, as a user; without that with the cookie in the
    environment; not at all where that has none. Raises UserError."""
    if login is None and user is None:
        return SignIn() if os.environ.get(COOKIE) else None
    if os.environ.get(COOKIE):
        raise UserError(f"users sign in with --login or with {COOKIE}: both are given; leave one out")
    if not login or not user:
        missing = "--login, the page to sign in on" if not login else "--login-user, a user's name"
        raise UserError(f"users sign in with --login and --login-user together; what is missing is {missing}")
    return SignIn(login, user)
