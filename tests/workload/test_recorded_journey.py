"""Test journeys that are written from recordings: the file's content, and the omitted requests.

The tests in tests/engines run such journeys.
"""

import ast
import json

import pytest

from loadtests.errors import UserError
from loadtests.workload.convert import ConvertOptions, converted

SITE = "https://shop.example"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def journey_of(tmp_path):
    """Return a function that takes the content of a recording and converts it to a journey."""

    def make(values, name="shop.har", **options):
        file = tmp_path / name
        file.write_text(values if isinstance(values, str) else json.dumps(values), encoding="utf-8")
        found = converted("journey", file, ConvertOptions(**options))
        ast.parse(found.text)
        return found

    return make


@pytest.fixture
def visit(journey_of, entry):
    """Return a function that returns the journey for these requests. A request is a path, or arguments of ``step``."""

    def step(number, path, method="GET", status=200, form=None, kind="", location="", at=None, headers=()):
        second = 2.0 * number if at is None else at
        url = path if "://" in path else f"{SITE}{path}"
        one = entry(url, method, status, at=f"2026-11-21T10:00:{second:06.3f}Z", body=form, headers=headers)
        if form is not None:
            one["request"]["postData"]["mimeType"] = kind or FORM
        one["response"] |= {"content": {"mimeType": kind}, "redirectURL": location}
        return one

    def make(*steps, **options):
        given = [{"path": one} if isinstance(one, str) else one for one in steps]
        return journey_of({"log": {"entries": [step(number, **one) for number, one in enumerate(given)]}}, **options)

    return make


def post(path, form, location="", status=302, kind=""):
    """Return a step that posts a form and leads to another page."""
    return {"path": path, "method": "POST", "status": status, "form": form, "location": location, "kind": kind}


def walk(found):
    """Return the lines of the journey's code that are the users' steps."""
    return [line.strip() for line in found.text.partition("def walk(self) -> None:\n")[2].splitlines()]


def test_visit_becomes_journey_with_pauses(visit):
    found = visit("/", {"path": "/offers?page=2", "at": 0.4}, "/about/")
    assert walk(found) == [
        'page = self.get("/", "/")',
        'page = self.get("/offers?page=2", "/offers")',
        "self.think()",
        'page = self.get("/about/", "/about/")',
    ]
    assert 'class Shop(Journey):\n    path = "/"\n' in found.text


def test_unsupported_requests_are_counted(visit):
    found = visit(
        "/",
        {"path": "/app.css", "kind": "text/css"},
        "/photo.jpg",
        "https://cdn.example/x",
        {"path": "/item/1/", "method": "DELETE", "status": 204},
        {"path": "/gone/", "status": 404},
        post("/api/", "{}", kind="application/json", status=200),
    )
    assert walk(found) == ['page = self.get("/", "/")']
    assert found.remarks == [
        "requests to shop.example",
        "left out: 1 request to other hosts; --host chooses another",
        "left out: 2 requests for static files",
        "left out: 1 request with a method except GET and POST",
        "left out: 1 request with the status 404",
        "left out: 1 request whose body isn't a form; write it by hand",
    ]
    for remark in found.remarks:
        assert f"- {remark}" in " ".join(found.text.split())


def test_form_token_comes_from_page(visit):
    token = "aB3dE5fG7hJ9kL2mN4pQ6rS8"
    form = f"csrfmiddlewaretoken={token}&what=tea&with=milk&with=sugar"
    found = visit("/orders/new/", post("/orders/new/", form, "/orders/17/"), "/orders/17/", "/orders/17/edit/")
    assert walk(found) == [
        "ids: dict[str, str] = {}  # identifiers from earlier answers",
        'page = self.get("/orders/new/", "/orders/new/")',
        "self.think()",
        "sent = self.post(",
        '"/orders/new/",',
        '"/orders/new/",',
        '{**tokens(page), "what": "tea", "with": ["milk", "sugar"]},',
        'check=leads_to("/orders/{id1}/", ids),',
        ")",
        'page = self.get(sent.location, "/orders/{id}/")',
        "self.think()",
        'page = self.get(f"/orders/{ids[\'id1\']}/edit/", "/orders/{id}/edit/")',
    ]
    assert token not in found.text


def test_id_missing_from_page_is_kept(visit):
    found = visit("/polls/3/", post("/polls/3/", "choice=1", "/polls/3/results/"), "/polls/3/results/")
    assert "ids" not in found.text
    assert 'check=leads_to("/polls/3/results/")' in found.text
    assert walk(found)[-1] == 'page = self.get(sent.location, "/polls/3/results/")'


def test_multipart_form_omits_its_files(visit):
    body = (
        '--XyZ1\r\nContent-Disposition: form-data; name="what"\r\n\r\ntea, "green"\r\n'
        '--XyZ1\r\nContent-Disposition: form-data; name="photo"; filename="a.jpg"\r\n\r\n1\r\n'
        "--XyZ1--\r\n"
    )
    found = visit("/new/", post("/new/", body, "/done/", kind="multipart/form-data; boundary=XyZ1"), "/done/")
    assert """{**tokens(page), "what": 'tea, "green"'}""" in found.text
    assert "photo" not in found.text


def test_written_journey_has_no_secret(visit):
    secrets = [("Cookie", "sessionid=hunter1"), ("Authorization", "Bearer hunter2"), ("X-CSRFToken", "hunter3")]
    found = visit(
        "/accounts/login/?next=/",
        post("/accounts/login/", "csrfmiddlewaretoken=hunter4&username=ada&password=hunter5", "/"),
        {"path": "/?token=hunter6&state=open", "headers": secrets},
        post("/card/", "cvc=hunter7&city=Ely", "/sent/?key=hunter-8a"),
        {"path": "/sent/?key=hunter-8a"},
        post("/invite/550e8400-e29b-41d4-a716-446655440000/", "state=Texas", "/"),
    )
    assert "hunter" not in found.text
    assert "password" not in found.text.partition("class ")[2]
    assert "550e8400" not in found.text
    assert 'check=leads_to("/sent/?key={id1}", ids)' in found.text
    assert "state=open" in found.text
    assert '"cvc": "REPLACED", "city": "Ely"' in found.text
    assert found.remarks[-2:] == [
        "left out: 2 requests that sign in, at /accounts/login/, because their password isn't kept. "
        "Log users in with run --login /accounts/login/",
        "REPLACED marks values that may be secret. Fill in other values",
    ]


def test_recorded_text_is_never_executed(visit):
    nasty = "\"\"\"\nimport os; os.abort()\n'\\{__import__('os').abort()}"
    steps = ("/{__import__('os').abort()}/", post("/a/", f"x={nasty}", '/b/"""/'), "/b/")
    tree = ast.parse(visit(*steps, name='"""import os.har').text)
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert {call.attr for call in calls if isinstance(call, ast.Attribute)} <= {"get", "post", "think"}
    assert len(tree.body) == 4  # the docstring, two imports and the class
    assert tree.body[-1].name == "ImportOs"


ONS = {
    "schema_name": "test_household",
    "schema_url": "https://example.org/test_household.json",
    "requests": [
        {"method": "GET", "url": "/people/"},
        {"method": "POST", "url": "/people/", "data": {"name": "Ada"}, "redirect_route": "/people/{person_id}/"},
        {"method": "GET", "url": "/people/{person_id}/"},
        {"method": "POST", "url": "/people/{person_id}/remove/?from=list", "data": {"sure": ["Yes", "very"]}},
        {"method": "GET", "url": "/next/", "redirect_route": "/end/{person_id}/{way}"},
    ],
}


def test_ons_file_becomes_a_journey(journey_of):
    found = journey_of(ONS, "test_household.json")
    assert walk(found) == [
        "ids: dict[str, str] = {}  # identifiers from earlier answers",
        'page = self.get("/people/", "/people/")',
        "self.think()",
        "sent = self.post(",
        '"/people/",',
        '"/people/",',
        '{**tokens(page), "name": "Ada"},',
        'check=leads_to("/people/{person_id}/", ids),',
        ")",
        'page = self.get(sent.location, "/people/{id}/")',
        "self.think()",
        "sent = self.post(",
        "f\"/people/{ids['person_id']}/remove/?from=list\",",
        '"/people/{id}/remove/",',
        '{**tokens(page), "sure": ["Yes", "very"]},',
        ")",
        "self.think()",
        'sent = self.get("/next/", "/next/", status=302, check=leads_to("/end/{person_id}/{way}", ids))',
    ]
    assert 'class TestHousehold(Journey):\n    path = "/people/"\n' in found.text


@pytest.mark.parametrize(
    ("requests", "says"),
    [
        ([], "contains no step of a journey"),
        (["GET /"], "a.json: requests[1]: must be a table"),
        ([{"method": "PUT", "url": "/"}], "requests[1].method: must be 'GET' or 'POST', not 'PUT'"),
        ([{"method": "GET", "url": "/{a b}/"}], "request 1: '/{a b}/' must be a path"),
        ([{"method": "GET", "url": "/", "data": {"a": 1}}], "request 1: data is only allowed in a POST"),
        ([{"method": "GET", "url": "/{id}/"}], "no earlier redirect_route defines {id}"),
    ],
)
def test_wrong_ons_file_is_refused(journey_of, requests, says):
    with pytest.raises(UserError) as raised:
        journey_of({**ONS, "requests": requests}, "a.json")
    assert says in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_empty_recording_is_refused(visit):
    with pytest.raises(UserError, match=r"no step of a journey; requests to shop.example; left out: 1 request"):
        visit("/a.css")
