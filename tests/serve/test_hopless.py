"""Every ASGI server, with Django served through the package hopless: the answers are those of the others."""

import pytest

SERVERS = ("uvicorn", "granian-asgi", "hypercorn", "daphne", "gunicorn-asgi")


@pytest.mark.servers
@pytest.mark.exhaustive
def test_every_asgi_server_answers_through_hopless_as_the_others_do(cli, monkeypatch):
    monkeypatch.setenv("HOPLESS", "1")
    code, printed, errors = cli.run("check", *SERVERS)
    assert code == 0, printed + errors
    assert "to each of 6 setups: 0 differences" in printed  # these and gunicorn, with which they are compared


@pytest.mark.servers
@pytest.mark.parametrize("part", ["whole", "threads", "middleware"])
def test_the_parts_of_hopless_answer_alike(cli, monkeypatch, part):
    monkeypatch.setenv("HOPLESS", part)
    code, printed, errors = cli.run("check", "uvicorn", "--path", "/", "--path", "/async/", "--path", "/db/")
    assert code == 0, printed + errors


def test_a_part_that_does_not_exist_is_refused(command, monkeypatch):
    monkeypatch.setenv("HOPLESS", "twins")
    code, _, errors = command("check", "uvicorn")
    assert code == 1
    assert "HOPLESS=twins: 1, threads, middleware or whole is needed" in errors
