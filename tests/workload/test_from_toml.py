"""Workload files: what is written is read back; mistakes are named with file and key."""

import os

import pytest

from loadtests.errors import UserError
from loadtests.workload import Request, Workload, from_toml
from loadtests.workload.write import to_toml

GOOD = """
[[requests]]
path = "/"
weight = 3

[[requests]]
name = "log in"
method = "POST"
path = "/login/?next=/"
headers = { "Content-Type" = "application/json", X-Twice = ["1", "2"] }
body = '{"a": 1}'
status = 302
"""


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_workload_file(file):
    front, login = from_toml.read(file(GOOD)).requests
    assert front == Request("GET /", weight=3)
    assert login == Request(
        "log in",
        "POST",
        "/login/?next=/",
        (("Content-Type", "application/json"), ("X-Twice", "1"), ("X-Twice", "2")),
        b'{"a": 1}',
        status=302,
    )


@pytest.mark.parametrize(
    "workload",
    [
        Workload(
            (Request("GET /"), Request('odd "name" \\ \x7f'.replace("\x7f", "é"), "PUT", "/a", (), b"\xff", 0.25, 404))
        ),
        Workload((Request("a", headers=(("X", "1"), ("Y", 'q"\t'), ("X", "2"))),)),
        Workload((Request("a", "POST", body="\x7f\x00é\u2028".encode()),), ((0.0, 1e-06, 12345.678901),)),
    ],
)
def test_what_is_written_is_read_back(file, workload):
    read = from_toml.read(file(to_toml(workload, ("a comment", "another"))))
    assert read.at == workload.at
    for found, request in zip(read.requests, workload.requests, strict=True):
        assert sorted(found.headers) == sorted(request.headers)
        assert {**found.to_dict(), "headers": []} == {**request.to_dict(), "headers": []}


def test_recorded_times_are_the_weight(file):
    assert from_toml.read(file("[[requests]]\nat = [0, 1.5, 2]")).requests[0].weight == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", r"mine.toml: requests: is missing; a list that is not empty is needed"),
        ("requests = []", r"mine.toml: requests: is \[\]; a list that is not empty"),
        ("requests = [1]", r"requests\[1\]: is 1; a table is needed"),
        ("[[requests]]\n[[requests]]", r"two have the name 'GET /'; give one"),
        ("[[requests]]\nweight = 0", r"mine.toml: requests\[1\].weight: is 0; a number above 0"),
        ("[[requests]]\nweight = '1'", r"requests\[1\].weight: is '1'; a number above 0"),
        ("[[requests]]\nmethod = 'BREW'", r"requests\[1\].method: is 'BREW'; one of 'DELETE', 'GET', "),
        ("[[requests]]\npath = 'a'", r"requests\[1\].path: is 'a'; it must begin with '/'"),
        ("[[requests]]\nheaders = {X = 1}", r"requests\[1\].headers.X: is 1; a text"),
        ("[[requests]]\nbody = 'a'\nbody_base64 = 'YQ=='", r"body and body_base64 are both given"),
        ("[[requests]]\nbody_base64 = '!'", r"requests\[1\].body_base64: is not base64"),
        ("[[requests]]\nbody_file = 'none'", r"requests\[1\].body_file: none cannot be read: No such file"),
        ("[[requests]]\nat = ['now']", r"requests\[1\].at\[1\]: is 'now'; a number of 0 or more"),
        ("[[requests]]\nwieght = 1", r"requests\[1\].wieght: is not a key here; did you mean weight"),
        ("title = 'mine'\n[[requests]]", r"title: is not a key here; allowed: requests"),
        ("[[requests", r"mine.toml: not valid TOML"),
    ],
)
def test_a_mistake_gets_one_line(file, text, says):
    with pytest.raises(UserError, match=says) as error:
        from_toml.read(file(text))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match=r"none.toml: cannot be read: No such file"):
        from_toml.read(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("pipe", "it is not a regular file"),
        (".", "Is a directory"),
        ("vast", "it is larger than 32 MB"),
        ("a" * 400, "File name too long"),
        ("a\\u0000b", "its name holds a null character"),
    ],
)
def test_a_body_is_a_regular_file_of_a_bounded_size(file, tmp_path, name, why):
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "vast").open("wb") as vast:
        vast.truncate(10**12)
    with pytest.raises(UserError, match=rf"requests\[1\].body_file: .* cannot be read: {why}"):
        from_toml.read(file(f'[[requests]]\nmethod = "POST"\nbody_file = "{name}"'))


def test_the_bodies_of_a_workload_are_bounded_together(tmp_path, file):
    (tmp_path / "large").write_bytes(b"a" * 20_000_000)
    text = "".join(f'[[requests]]\nname = "{name}"\nmethod = "POST"\nbody_file = "large"\n' for name in "ab")
    with pytest.raises(UserError, match=r"requests: the bodies are 40.0 MB in all; at most 32 MB are allowed"):
        from_toml.read(file(text))


def test_deep_nesting(file):
    with pytest.raises(UserError, match=r"mine.toml: not valid TOML: lists or tables are nested too deeply"):
        from_toml.read(file(f"requests = {'[' * 5000}"))
