"""The test types of TechEmpower's FrameworkBenchmarks, by its rules, as sync and as async views."""

import html.parser
import json

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext
from endpoints.models import World
from endpoints.rows import MESSAGES


def test_json_is_a_message_in_an_object(answers, prefix):
    for response, body in answers("get", f"{prefix}/json"):
        assert response.headers["Content-Type"] == "application/json"
        assert json.loads(body) == {"message": "Hello, World!"}


def test_plaintext_is_the_bare_message(answers, prefix):
    for response, body in answers("get", f"{prefix}/plaintext"):
        assert response.headers["Content-Type"] == "text/plain"
        assert body == b"Hello, World!"


def is_a_row(row):
    assert set(row) == {"id", "randomNumber"}
    return all(type(value) is int and 1 <= value <= 10_000 for value in row.values())


def test_db_is_one_row_as_the_table_has_it(answers, prefix, database):
    for response, body in answers("get", f"{prefix}/db"):
        assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
        row = json.loads(body)
        assert is_a_row(row)
        assert World.objects.get(id=row["id"]).random_number == row["randomNumber"]


def test_db_is_another_row_each_time(wsgi, database):
    assert len({json.loads(wsgi.get("/db").content)["id"] for _ in range(20)}) > 10


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/queries", "/updates", "/async/queries", "/async/updates"])
@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("?queries=20", 20),
        ("?queries=501", 500),
        ("?queries=99999999999999999999", 500),
        ("?queries=1", 1),
        ("?queries=0", 1),
        ("?queries=-3", 1),
        ("?queries=foo", 1),
        ("?queries=2.5", 1),
        ("?queries=", 1),
        ("", 1),
    ],
)
def test_the_number_of_queries_is_bounded_as_the_rules_say(answers, database, path, query, rows):
    for response, body in answers("get", path + query):
        assert response.headers["Content-Type"] == "application/json"
        found = json.loads(body)
        assert len(found) == rows
        assert all(map(is_a_row, found))
        assert len({row["id"] for row in found}) == rows


def test_each_row_is_a_query_of_its_own(wsgi, prefix, database):
    with CaptureQueriesContext(connections["default"]) as captured:
        wsgi.get(f"{prefix}/queries?queries=7")
    assert len(captured) == 7
    assert all(" IN " not in query["sql"] for query in captured.captured_queries)


def test_each_update_is_a_query_and_a_statement_of_its_own(wsgi, prefix, database):
    with CaptureQueriesContext(connections["default"]) as captured:
        wsgi.get(f"{prefix}/updates?queries=7")
    verbs = [query["sql"].split()[0] for query in captured.captured_queries]
    assert verbs == ["SELECT", "UPDATE"] * 7


def test_updates_are_in_the_table_afterwards(answers, prefix, database):
    before = dict(World.objects.values_list("id", "random_number"))
    answered = {}
    for _, body in answers("get", f"{prefix}/updates?queries=200"):
        answered |= {row["id"]: row["randomNumber"] for row in json.loads(body)}
    now = dict(World.objects.values_list("id", "random_number"))
    assert {number: now[number] for number in answered} == answered
    changed = {number for number in now if now[number] != before[number]}
    assert changed <= set(answered)
    assert len(changed) > len(answered) - 20  # one in 10,000 gets the number that it had


class Cells(html.parser.HTMLParser):
    """The texts of a page's table cells, row by row."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.rows = []
        self.tags = [""]
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.tags[-1] in ("td", "th") and data.strip():
            self.rows[-1][-1] += data


def test_fortunes_are_a_sorted_table_with_the_added_one(answers, prefix, database):
    rows = [[str(number), text] for number, text in enumerate(MESSAGES, start=1)]
    rows.append(["0", "Additional fortune added at request time."])
    for response, body in answers("get", f"{prefix}/fortunes"):
        assert response.headers["Content-Type"] == "text/html; charset=utf-8"
        page = Cells(body.decode())
        assert page.rows == [["id", "message"], *sorted(rows, key=lambda row: row[1])]
        assert body.startswith(b"<!DOCTYPE html>")


def test_the_fortune_that_is_an_attack_is_escaped(answers, prefix, database):
    for _, body in answers("get", f"{prefix}/fortunes"):
        assert b"<script" not in body
        assert b"&lt;script&gt;alert(&quot;" in body
        assert "<td>フレームワークのベンチマーク</td>".encode() in body
