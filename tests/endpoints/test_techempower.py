"""Test that sync and async views follow the rules of TechEmpower's FrameworkBenchmarks."""

import html
import json
import re
from operator import itemgetter

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext
from endpoints.models import World
from endpoints.rows import MESSAGES


def test_json_and_plaintext_say_hello(ask, prefix):
    status, content_type, body = ask("get", f"{prefix}/json")
    assert (status, content_type, json.loads(body)) == (200, "application/json", {"message": "Hello, World!"})
    assert ask("get", f"{prefix}/plaintext") == (200, "text/plain", b"Hello, World!")


def is_a_row(row):
    assert set(row) == {"id", "randomNumber"}
    return all(type(value) is int and 1 <= value <= 10_000 for value in row.values())


def test_db_returns_a_row(answers, prefix, database):
    for response, body in answers("get", f"{prefix}/db"):
        assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
        row = json.loads(body)
        assert is_a_row(row)
        assert World.objects.get(id=row["id"]).random_number == row["randomNumber"]


def test_db_returns_random_rows(wsgi, database):
    assert len({json.loads(wsgi.get("/db").content)["id"] for _ in range(20)}) > 10


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/queries", "/updates", "/async/queries", "/async/updates"])
@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("?queries=20", 20),
        ("?queries=501", 500),
        ("?queries=0", 1),
        ("?queries=-3", 1),
        ("?queries=foo", 1),
        ("?queries=2.5", 1),
        ("", 1),
    ],
)
def test_number_of_queries_is_limited(answers, database, path, query, rows):
    for response, body in answers("get", path + query):
        assert response.headers["Content-Type"] == "application/json"
        found = json.loads(body)
        assert len(found) == rows
        assert all(map(is_a_row, found))
        assert len({row["id"] for row in found}) == rows


@pytest.mark.parametrize(("path", "verbs"), [("queries", ["SELECT"]), ("updates", ["SELECT", "UPDATE"])])
def test_each_row_needs_a_separate_query(wsgi, prefix, database, path, verbs):
    with CaptureQueriesContext(connections["default"]) as captured:
        wsgi.get(f"{prefix}/{path}?queries=7")
    asked = [query["sql"] for query in captured.captured_queries]
    assert [sql.split()[0] for sql in asked] == verbs * 7
    assert all(" IN " not in sql for sql in asked)


def test_updates_are_saved(answers, prefix, database):
    before = dict(World.objects.values_list("id", "random_number"))
    answered = {}
    for _, body in answers("get", f"{prefix}/updates?queries=200"):
        answered |= {row["id"]: row["randomNumber"] for row in json.loads(body)}
    now = dict(World.objects.values_list("id", "random_number"))
    assert {number: now[number] for number in answered} == answered
    changed = {number for number in now if now[number] != before[number]}
    assert changed <= set(answered)
    assert len(changed) > len(answered) - 20  # by chance, 1 in 10,000 rows gets its old number again


def test_fortunes_are_sorted_and_escaped(ask, prefix, database):
    status, content_type, body = ask("get", f"{prefix}/fortunes")
    page = body.decode()
    assert (status, content_type, page.startswith("<!DOCTYPE html>")) == (200, "text/html; charset=utf-8", True)
    rows = [[str(number), text] for number, text in enumerate(MESSAGES, start=1)]
    rows.append(["0", "Additional fortune added at request time."])
    found = [re.findall("<t[dh]>(.*?)</t[dh]>", row) for row in re.findall("<tr>(.*?)</tr>", page, re.DOTALL)]
    assert [[html.unescape(cell) for cell in row] for row in found] == [
        ["id", "message"],
        *sorted(rows, key=itemgetter(1)),
    ]
    assert "<script" not in page
    assert "&lt;script&gt;alert(&quot;" in page
    assert "<td>フレームワークのベンチマーク</td>" in page
