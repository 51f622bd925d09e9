"""Test how files are read into types. An error is one line with the place, the value and the allowed values."""

from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta

from loadtests.errors import UserError
from loadtests.records import decode
from loadtests.records.bounds import Count, Positive, Share
from loadtests.records.decode import Duration

Word = Annotated[str, Meta(pattern=r"^[a-z]+\Z", extra={"allowed": "a word of small letters"})]


class Inner(msgspec.Struct, kw_only=True, rename={"duration_s": "duration"}):
    rate: Positive | Literal["auto"]
    duration_s: Duration = 1.0
    pace: Literal["even", "recorded"] = "even"
    share: Share | None = None

    def __post_init__(self) -> None:
        if self.share and self.rate != "auto":
            raise ValueError("share: goes with rate = 'auto'")
        if self.rate == 13:
            raise ValueError("it is unlucky")


class Outer(msgspec.Struct, kw_only=True):
    tests: dict[str, Inner]
    listed: tuple[Inner, ...] = ()
    names: dict[Word, str | int] = {}
    limit: Annotated[int, Meta(ge=2, le=5000)] = 2
    count: Count = 0
    pause: Duration | list[Duration] = 0.5


def test_durations_become_seconds():
    values = {"tests": {"a": {"rate": 1, "duration": "2m"}}, "listed": [{"rate": 2, "duration": 3}], "pause": ["1s", 2]}
    read = decode.convert(values, Outer, "a.toml")
    assert (read.tests["a"].duration_s, read.listed[0].duration_s, read.pause) == (120, 3, [1, 2])


AUTO = "a number above 0 or 'auto'"
WRONG = {
    "unknown": ({"tests": {}, "limits": 2}, "limits: is not a known key. Did you mean limit? Allowed: count, l"),
    "unknown below": ({"tests": {"b": {"rte": 1}}}, "tests.b.rte: is not a known key. Did you mean rate? Allowed: d"),
    "missing": ({"tests": {"a": {"rate": 1}, "b": {}}}, f"tests[...].rate: is missing. It must be {AUTO}"),
    "missing at the top": ({}, "tests: is missing. It must be a table"),
    "type": ({"tests": {}, "limit": "2"}, "limit: must be a whole number from 2 to 5,000, not '2'"),
    "bool": ({"tests": {}, "limit": True}, "limit: must be a whole number from 2 to 5,000, not True"),
    "bound": ({"tests": {}, "limit": 1}, "limit: must be a whole number from 2 to 5,000, not 1"),
    "vast": ({"tests": {}, "count": 10**16}, f"count: must be a whole number of at least 0, not {10**16}"),
    "no table": ({"tests": 1}, "tests: must be a table, not 1"),
    "in a dict": ({"tests": {"a": {"rate": 1}, "b.b": {"rate": 0}}}, f"tests[...].rate: must be {AUTO}"),
    "nan": ({"tests": {}, "listed": [{"rate": float("nan")}]}, f"listed[1].rate: must be {AUTO}, not nan"),
    "in a list": ({"tests": {}, "listed": [{"rate": 1}, {"rate": "x"}]}, f"listed[2].rate: must be {AUTO}, not 'x'"),
    "word": ({"tests": {}, "listed": [{"rate": 1, "pace": "odd"}]}, "listed[1].pace: must be 'even' or 'recorded'"),
    "name": ({"tests": {}, "names": {"a": 1, "B": 2}}, "names: contains an invalid name. It must be a word"),
    "rule": ({"tests": {}, "listed": [{"rate": 1, "share": 0.5}]}, "listed[1].share: goes with rate = 'auto'"),
    "rule of all": ({"tests": {}, "listed": [{"rate": 13}]}, "listed[1]: it is unlucky"),
    "duration": ({"tests": {"a": {"rate": 1, "duration": "soon"}}}, "tests.a.duration: 'soon' is not a duration. "),
    "too short": ({"tests": {"a": {"rate": 1, "duration": "0s"}}}, "tests.a.duration: '0s' is not a valid duration. "),
    "negative": ({"tests": {}, "pause": -1}, "pause: must be a duration such as 10s or 500ms, from "),
    "itself": ([], "it: must be a table, not []"),
}  # fmt: skip


@pytest.mark.parametrize(("values", "line"), WRONG.values(), ids=WRONG)
def test_mistake_is_a_clear_error(values, line):
    with pytest.raises(UserError) as raised:
        decode.convert(values, Outer, "a.toml")
    assert str(raised.value).startswith(f"a.toml: {line}")
    assert "\n" not in str(raised.value)


def test_prefix_precedes_the_path():
    with pytest.raises(UserError, match=r"^a.toml: tests\.b\.rate: is missing. "):
        decode.convert({}, Inner, "a.toml", "tests.b.")


@pytest.mark.parametrize("text", [b"{", b"[" * 100_000, b"\xff"])
def test_invalid_json_or_toml_is_refused(text, tmp_path):
    (tmp_path / "a.toml").write_bytes(text)
    for read in (lambda: decode.read_json(text, "a.json"), lambda: decode.read_toml(tmp_path / "a.toml")):
        with pytest.raises(UserError, match=r"a\.(json|toml): not valid (JSON|TOML): "):
            read()
