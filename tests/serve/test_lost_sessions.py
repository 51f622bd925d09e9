"""Test the questionnaire on real servers: session stores and their services, and gRPC in greenlets."""

import json
import re
import secrets
import threading
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.fixtures.served import served

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers, pytest.mark.usefixtures("own_database")]

AT_ONCE = 10
USERS = 200


def walk(url, name="Ada"):
    """Log in and answer the first page. Return the next page's marker, and the session."""
    browser = requests.Session()
    page = browser.get(f"{url}launch/?respondent={name}")
    for answer in ({}, {"name": name}):
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)[1]
        page = browser.post(page.url, {"csrfmiddlewaretoken": token, **answer})
    return re.search(r'data-page="([^"]*)"', page.text)[1], browser


@pytest.mark.parametrize(
    ("name", "where"), [("gunicorn-gthread", "redis"), ("gunicorn-gevent", "datastore")], ids=["threads", "greenlets"]
)
def test_two_hundred_users_keep_their_sessions(name, where):
    """All users write into their sessions before any user reads a session."""
    all_have_written = threading.Barrier(USERS, timeout=90)
    with served(name, SESSIONS=where, WORKERS="2", THREADS="4", QUESTIONNAIRE_STATE_BYTES="1024") as running:
        url = f"{running.url}/questionnaire/"

        def person(number):
            mark = f"{secrets.token_hex(8)}-{number}"
            marker, browser = walk(url, mark)
            all_have_written.wait()
            with browser:
                shown = re.findall(r'value="([0-9a-f]{16}-\d+)"', browser.get(f"{url}name/", timeout=90).text)
            return marker, shown == [mark]

        with ThreadPoolExecutor(USERS) as threads:
            assert Counter(threads.map(person, range(USERS))) == {("household", True): USERS}
        assert {(part.role, part.charged) for part in running.parts()} == {("web", True), (where, True)}


@pytest.mark.parametrize(
    ("name", "overlap"), [("gunicorn-gevent", True), ("uwsgi-gevent", True), ("gunicorn-gevent-unpatched", False)]
)
def test_grpc_lookups_overlap_in_greenlets(name, overlap):
    """Each of ten simultaneous users causes a lookup of 200 ms. The datastore counts the simultaneous lookups."""
    with served(name, SESSIONS="datastore", DATASTORE_DELAY_MS="200") as running:
        url = f"{running.url}/questionnaire/"
        _, browser = walk(url)
        address = (running.folder / "datastore.http").read_text()

        def look(_):
            return requests.get(f"{url}household/", cookies=browser.cookies, timeout=30).status_code

        with ThreadPoolExecutor(AT_ONCE) as threads:
            assert set(threads.map(look, range(AT_ONCE))) == {200}
        with urllib.request.urlopen(f"http://{address}/counts", timeout=10) as response:
            most = json.load(response)["most_in_flight"]
    assert most > AT_ONCE / 2 if overlap else most == 1


def test_missing_datastore_is_reported_early(refused, monkeypatch, tmp_path):
    monkeypatch.setenv("DATASTORE_EMULATOR_HOST", "127.0.0.1:1")
    study = tmp_path / "s.toml"
    study.write_text(
        'setups = [{setup = "gunicorn-gthread", env = {SESSIONS = "datastore"}}]\n'
        '[tests.users]\nkind = "journey"\nusers = 1\nduration = "1s"\n'
    )
    errors = refused("run", study, "--output", tmp_path / "run")
    assert errors.startswith("error: gunicorn-gthread: did not start: datastore:datastore is EXITED (exit status 69): ")
    assert "there is no datastore at 127.0.0.1:1 (DATASTORE_EMULATOR_HOST)" in errors
    assert not (tmp_path / "run").exists()
