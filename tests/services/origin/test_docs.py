"""The page of the origin cannot fall behind: it has every key, every request below /_admin/ and every count."""

import json
import re

import pytest

from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.services.origin import admin, from_json
from loadtests.services.origin.counts import Counts
from loadtests.services.origin.player import Fate

PAGE = (ROOT / "docs" / "origin.rst").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "recipe.schema.json").read_text(encoding="utf-8"))["$defs"]
TERMS = set(re.findall(r"``([^`]+)``", " ".join(re.findall(r"^``.*``$", PAGE, flags=re.MULTILINE))))


def allowed(recipe):
    """The keys that the parser says are allowed where it found `nonsense`."""
    with pytest.raises(UserError, match="nonsense") as raised:
        from_json.parse(recipe, "a.json")
    return set(str(raised.value).partition("allowed: ")[2].split(", "))


def test_the_keys_of_a_recipe_are_those_on_the_page_and_in_the_schema():
    recipe = allowed({"stages": [{"at": 0}], "nonsense": 1})
    stage = allowed({"stages": [{"at": 0, "nonsense": 1}]})
    assert recipe == set(SCHEMA["recipe"]["properties"])
    assert stage == set(SCHEMA["stage"]["properties"])
    counts = set(Counts(lambda: 0.0).totals())
    assert recipe | stage | counts == TERMS


def test_what_can_be_asked_and_what_becomes_of_requests_is_on_the_page():
    assert set(re.findall(r"``(?:GET|POST)(?:`` or ``POST)? /_admin/([a-z_]+)``", PAGE)) == {*admin.READ, *admin.TOLD}
    for fate in Fate:
        assert f"``{fate.value}``" in PAGE


def test_the_recipes_that_ship_are_named():
    assert f"a recipe that ships: {', '.join(from_json.names())}" in PAGE
