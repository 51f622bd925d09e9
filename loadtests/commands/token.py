"""``token``: print the token for the workers of a run."""

from __future__ import annotations

from loadtests.commands.console import err, say, waiting


def command() -> None:
    """Print the token for a run's workers, derived from the run's own token (`run --expect-workers`).

    The command reads the run's token from the file that LOAD_TOKEN_FILE names, or else from standard input.
    """
    with waiting(err):
        from loadtests.engines import load_token

    token = load_token.given(load_token.STDIN)
    assert token is not None
    say(load_token.of_workers(token))
