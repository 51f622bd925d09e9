"""Test the login to a server, its use by checks, and the errors of a failed login."""

import contextlib
import dataclasses
import http.server
import ssl
import threading
from urllib.parse import parse_qs

import pytest

from loadtests import setups
from loadtests.errors import UserError
from loadtests.measure import check as checks
from loadtests.measure import contract_check
from loadtests.serve import signed_in
from loadtests.serve.signed_in import NotSignedIn
from loadtests.setups.application import sample
from loadtests.workload import Request, SignIn, sign_in
from tests.engines.test_tls import certificate
from tests.fixtures.bench import a_block

PAGE = (
    '<form method="post" action="{action}"><input type="hidden" name="csrfmiddlewaretoken" value="t">'
    '<input name="username"><input type="password" name="password">'
    '<button name="login_submit" value="Log In">Log in</button></form>'
)


class Site(http.server.BaseHTTPRequestHandler):
    """Imitate Django's login view, where ada logs in with the correct password."""

    action, cookie, token, seen = "/in/", "sessionid=s1; Path=/; HttpOnly", "csrftoken=c1; Path=/", []
    location = "/profile/"

    def do_GET(self):
        self.give(200, PAGE.format(action=self.action), self.token)

    def do_POST(self):
        given = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.seen.append((self.headers["Host"], self.headers["Cookie"], self.path, self.headers["Referer"]))
        if given["csrfmiddlewaretoken"] != ["t"] or "csrftoken=c1" not in (self.headers["Cookie"] or ""):
            self.give(403, "")
        elif given["password"] != ["hunter2 é"]:
            self.give(200, PAGE.format(action=self.action))
        else:
            self.give(302, "", self.cookie)

    def give(self, status, text, cookie=""):
        self.send_response(status)
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.send_header("Location", self.location)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *about):
        pass


@pytest.fixture
def site():
    """Return a function that starts a changed copy of the site and returns the address and the list of requests."""
    with contextlib.ExitStack() as stack:

        def start(tls=None, **changes):
            handler = type("Changed", (Site,), {"seen": [], **changes})
            server = stack.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
            if tls:
                context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
                context.load_cert_chain(*tls)
                server.socket = context.wrap_socket(server.socket, server_side=True)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
            return f"http{'s' if tls else ''}://127.0.0.1:{server.server_address[1]}", handler.seen

        yield start


ADA = SignIn("/accounts/login/", "ada")


def test_login_returns_the_cookies(monkeypatch, site):
    monkeypatch.setenv("JOURNEY_PASSWORD", "hunter2 é")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1/")
    url, seen = site()
    [cookie] = signed_in.cookies(url, ADA, dataclasses.replace(sample(), host="shop.example"))
    assert set(cookie.split("; ")) == {"csrftoken=c1", "sessionid=s1"}
    assert seen == [("shop.example", "csrftoken=c1", "/in/", None)]


PROXY = ("X-Forwarded-Proto", "https")
SECURE = {"cookie": "sessionid=s1; Secure; Path=/", "token": "csrftoken=c1; Secure; Path=/"}


@pytest.mark.parametrize(
    ("headers", "referer"),
    [((), "https://shop.example/"), ((("referer", "https://shop.example/in/"),), "https://shop.example/in/")],
)
def test_proxy_header_keeps_secure_cookies(monkeypatch, site, headers, referer):
    monkeypatch.setenv("JOURNEY_PASSWORD", "hunter2 é")
    url, seen = site(**SECURE)
    behind_proxy = dataclasses.replace(
        sample(), host="shop.example", headers=(PROXY, *headers, ("Accept-Encoding", "gzip"))
    )
    [cookie] = signed_in.cookies(url, ADA, behind_proxy)
    assert set(cookie.split("; ")) == {"csrftoken=c1", "sessionid=s1"}
    assert seen == [("shop.example", "csrftoken=c1", "/in/", referer)]


def test_login_trusts_the_servers_certificate(monkeypatch, site, tmp_path):
    monkeypatch.setenv("JOURNEY_PASSWORD", "hunter2 é")
    tls = certificate(tmp_path / "tls")
    url, seen = site(tls, **SECURE)
    [cookie] = signed_in.cookies(url, ADA, sample(), tls[0].read_text())
    assert set(cookie.split("; ")) == {"csrftoken=c1", "sessionid=s1"}
    assert seen == [(url.removeprefix("https://"), "csrftoken=c1", "/in/", f"{url}/")]


@pytest.mark.parametrize("name", ["JOURNEY_PASSWORD", "JOURNEY_COOKIE"])
def test_cookie_header_excludes_a_login(monkeypatch, site, name):
    monkeypatch.setenv(name, "hunter2")
    application = dataclasses.replace(sample(), headers=(("cookie", "consent=1"),))
    with pytest.raises(UserError, match=r"^--header Cookie and a login can't be combined. Leave one out$"):
        signed_in.cookies(site()[0], ADA if name == "JOURNEY_PASSWORD" else SignIn(), application)


@pytest.mark.parametrize(
    ("password", "changes", "says"),
    [
        ("hunter3", {}, "POST /in/: ada was refused: answered 200. Check the password"),
        ("hunter2 é", {"cookie": "sessionid=s1; Secure"}, "no cookie sessionid for this address, only csrftoken. Turn"),
        ("hunter2 é", {"location": "http://["}, "POST /in/: the answer's Location is not valid: Invalid IPv6 URL"),
        ("hunter2 é", {"do_POST": lambda self: self.give(429, "")}, "429 instead of a redirect. Switch off the app"),
        (
            "hunter2 é",
            {"do_POST": lambda self: self.give(400, "")},
            "POST /in/: answered 400 instead of a redirect. Compare its fields with your browser's: "
            "csrfmiddlewaretoken, login_submit, username, password",
        ),
        (
            "hunter2 é",
            {"action": "https://evil.example/in/"},
            "send the password to another site, https://evil.example",
        ),
        ("hunter2 é", {"do_GET": lambda self: self.give(200, PAGE)}, "answered 403. Send this header, even if"),
    ],
)
def test_refused_login_is_reported(monkeypatch, site, password, changes, says):
    monkeypatch.setenv("JOURNEY_PASSWORD", password)
    url, seen = site(**changes)
    with pytest.raises(NotSignedIn) as raised:
        signed_in.cookies(url, ADA, sample())
    assert says in str(raised.value)
    assert "hunter" not in str(raised.value)
    assert ("evil" in says) <= (seen == [])


def test_each_account_logs_in(site, tmp_path):
    accounts = tmp_path / "users.csv"
    accounts.write_text('ada,hunter2 é\n\n"bob, the second",hunter2 é\n')
    url, seen = site()
    found = signed_in.cookies(url, sign_in.from_options("/accounts/login/", None, accounts), sample())
    assert (len(found), len(seen)) == (2, 2)
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("ada,hunter2 é\nbob,hunter3\n")
    with pytest.raises(NotSignedIn, match=r"bob was refused: answered 200. Check the password"):
        signed_in.cookies(url, sign_in.from_options("/accounts/login/", None, wrong), sample())


@pytest.fixture
def two_users(tmp_path):
    accounts = tmp_path / "users.csv"
    accounts.write_text("ada,hunter2 é\nbob,hunter2 é\n")
    return sign_in.from_options("/accounts/login/", None, accounts)


@pytest.mark.parametrize(
    ("table", "users"),
    [({"kind": "throughput", "duration": "1s"}, 2), ({"kind": "journey", "users": 2, "duration": "1s"}, 1)],
)
def test_checks_log_few_users_in(bench_of, site, two_users, table, users):
    bench_of.server.url, seen = site()
    bench_of.server_on = lambda port: bench_of.server
    bench_of.server.statuses = {"/questionnaire/launch/": 302}
    bench, study, [planned] = a_block(bench_of, {"setups": ["gunicorn"], "tests": {"one": table}})
    study = study.with_journey(None, two_users)
    bench.contract, _ = contract_check.preflight(bench, study)
    assert len(seen) == 1
    load, broken = contract_check.checked_load(bench, bench_of.server, study.tests[0], planned.entry, 1)
    assert (len(seen), len(load.cookies), broken) == (1 + users, users, [])


def test_failed_login_spares_other_setups(monkeypatch, bench_of, site, two_users, free_port):
    monkeypatch.setenv("PORT", str(free_port))
    url, seen = site()
    other, _ = site(do_POST=lambda self: self.give(401, ""))

    @contextlib.contextmanager
    def serving(setup, **options):
        bench_of.server.url = other if setup.name == "uvicorn" else url
        yield bench_of.server

    monkeypatch.setattr(checks, "serving", serving)
    found = setups.find(["gunicorn", "uvicorn", "gunicorn-gthread"])
    given = (found, (), lambda doing: None, bench_of.application, (Request("one"),), two_users)
    checked = checks.check(*given)
    assert [one.name for one in checked.compared] == ["gunicorn", "gunicorn-gthread"]
    [(setup, error)] = checked.failed
    assert (setup.name, checked.good, len(seen)) == ("uvicorn", False, 2)
    assert str(error).startswith("users can't log in: POST /in/: ada was refused: answered 401")
    url = other
    with pytest.raises(UserError, match=r"^gunicorn: users can't log in: POST /in/: ada was refused"):
        checks.check(*given)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ada,hunter2\nbob\n", "users.csv: line 2 must be a name and a password, such as ada,secret"),
        ("", "users.csv: the number of accounts must be from 1 to 1,000, not 0"),
        ("ada,hunter2\n" * 1001, "not 1,001"),
    ],
)
def test_invalid_accounts_are_refused(tmp_path, text, says):
    accounts = tmp_path / "users.csv"
    accounts.write_text(text)
    with pytest.raises(UserError) as raised:
        sign_in.from_options("/accounts/login/", None, accounts).accounts()
    assert says in str(raised.value)
    assert "hunter" not in str(raised.value)
