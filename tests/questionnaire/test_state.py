"""The blob that a session has of a respondent."""

import pytest
from questionnaire.state import State, TooLarge, pack, unpack

STATE = State("Somebody", True, {"name": "Ad\u00e0", "travel": ["foot"]}, "1A2B")


def test_a_state_comes_back():
    assert unpack(pack(STATE, "secret", 1024), "secret") == STATE


def test_every_blob_has_the_same_length():
    assert len(pack(STATE, "secret", 8192)) == len(pack(State("S"), "secret", 8192)) > 8192


def test_a_blob_tells_nothing_and_is_never_the_same():
    one, two = pack(STATE, "secret", 1024), pack(STATE, "secret", 1024)
    assert one != two
    assert "Somebody" not in one


@pytest.mark.parametrize("blob", [None, "", "nonsense", 7, "\u00e9", pack(STATE, "another", 1024)])
def test_what_is_no_blob_of_ours_is_no_state(blob):
    assert unpack(blob, "secret") is None


def test_a_state_that_does_not_fit_is_refused():
    with pytest.raises(TooLarge, match="does not fit into 64"):
        pack(STATE, "secret", 64)


def test_the_longest_answers_fit_into_the_smallest_blob():
    from questionnaire import definition
    from testproject.settings.sessions import STATE_BYTES

    pages = definition.load("household").pages
    longest = {page.id: "\U0001f600" * page.longest for page in pages if page.type == "text"}
    longest |= {"household": "30", "moved": "2020-02-29", "work": "yes", "travel": list(pages[-1].options)}
    pack(State("\U0001f600" * 40, True, longest, "12345678"), "secret", STATE_BYTES[0])
