"""Test that invalid definitions are refused when they are read."""

import pytest
from questionnaire import definition
from questionnaire.definition import BadDefinition, parse

TEXT = {"id": "a", "type": "text", "question": "A?"}
RADIO = {"id": "r", "type": "radio", "question": "R?", "options": {"yes": "Yes"}}


def test_survey_has_a_page_per_type():
    assert {page.type for page in definition.load("household").pages} == set(definition.TYPES)


@pytest.mark.parametrize(
    ("pages", "says"),
    [
        ([], "pages with different ids are needed"),
        ([TEXT, TEXT], "pages with different ids are needed"),
        ([{**TEXT, "type": "colour"}], "a: type is 'colour'. Allowed: text, number, date, radio, checkbox"),
        ([{**TEXT, "id": "summary"}], "summary: an id of letters and digits is needed, except launch"),
        ([{**TEXT, "id": "a/b"}], "a/b: an id of letters and digits"),
        ([{**TEXT, "options": {"yes": "Yes"}}], "a: options are needed for radio and checkbox only"),
        ([{**TEXT, "type": "radio"}], "a: options are needed for radio and checkbox only"),
        ([TEXT, {**RADIO, "routes": {"yes": "a"}}], "r: routes: 'yes' to 'a': an option and a later page"),
        ([{**RADIO, "routes": {"no": "a"}}, TEXT], "r: routes: 'no' to 'a'"),
        ([{**TEXT, "type": "number", "least": "few"}], "a: 'few' isn't a whole number"),
    ],
)
def test_invalid_survey_names_the_problem(pages, says):
    with pytest.raises(BadDefinition, match=says):
        parse({"title": "T", "pages": pages})


def test_missing_file_is_named():
    with pytest.raises(BadDefinition, match=r"nowhere\.json: "):
        definition.load("nowhere")
