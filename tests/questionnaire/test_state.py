"""Test a respondent's blob in the session."""

import pytest
from questionnaire.state import State, TooLarge, pack, unpack

STATE = State("Somebody", True, {"name": "Ad\u00e0", "travel": ["foot"]}, "1A2B")


def test_state_is_restored():
    assert unpack(pack(STATE, "secret", 1024), "secret") == STATE


def test_every_blob_has_the_same_length():
    assert len(pack(STATE, "secret", 8192)) == len(pack(State("S"), "secret", 8192)) > 8192


def test_blob_content_looks_random():
    one, two = pack(STATE, "secret", 1024), pack(STATE, "secret", 1024)
    assert one != two
    assert "Somebody" not in one


@pytest.mark.parametrize("blob", [None, "", "nonsense", 7, "\u00e9", pack(STATE, "another", 1024)])
def test_invalid_blob_is_ignored(blob):
    assert unpack(blob, "secret") is None


def test_oversized_state_is_refused():
    with pytest.raises(TooLarge, match="exceeds 64 bytes"):
        pack(STATE, "secret", 64)


def test_smallest_blob_fits_longest_answers():
    from questionnaire import definition
    from testproject.settings.sessions import STATE_BYTES

    pages = definition.load("household").pages
    longest = {page.id: "\U0001f600" * page.longest for page in pages if page.type == "text"}
    longest |= {"household": "30", "moved": "2020-02-29", "work": "yes", "travel": list(pages[-1].options)}
    pack(State("\U0001f600" * 40, True, longest, "12345678"), "secret", STATE_BYTES[0])
