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
        ([], "the definition must contain pages with different ids"),
        ([TEXT, TEXT], "the definition must contain pages with different ids"),
        ([{**TEXT, "type": "colour"}], "a: type must be one of text, number, date, radio, checkbox, not 'colour'"),
        ([{**TEXT, "id": "summary"}], "summary: the id must have only letters, digits and hyphens, and not be launch"),
        ([{**TEXT, "id": "a/b"}], "a/b: the id must have only letters, digits and hyphens"),
        ([{**TEXT, "options": {"yes": "Yes"}}], "a: must have options if, and only if, its type is"),
        ([{**TEXT, "type": "radio"}], "a: must have options if, and only if, its type is"),
        (
            [TEXT, {**RADIO, "routes": {"yes": "a"}}],
            "r: routes: 'yes' to 'a': must lead from an option to a later page",
        ),
        ([{**RADIO, "routes": {"no": "a"}}, TEXT], "r: routes: 'no' to 'a'"),
        ([{**TEXT, "type": "number", "least": "few"}], "a: 'few' isn't a whole number"),
    ],
)
def test_invalid_survey_names_the_problem(pages, says):
    with pytest.raises(BadDefinition, match=says):
        parse({"title": "T", "pages": pages})


def test_missing_file_error_names_file():
    with pytest.raises(BadDefinition, match=r"nowhere\.json: "):
        definition.load("nowhere")
