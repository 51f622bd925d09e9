"""The page of the origin cannot fall behind: it has every request below /_admin/ and every count."""

import re

from loadtests.files import ROOT
from loadtests.services.origin import admin, recipes
from loadtests.services.origin.counts import Counts
from loadtests.services.origin.player import Fate

PAGE = (ROOT / "docs" / "slow-origin.rst").read_text(encoding="utf-8").partition(".. _page-origin:")[2]
TERMS = set(re.findall(r"``([^`]+)``", " ".join(re.findall(r"^``.*``$", PAGE, flags=re.MULTILINE))))


def test_the_counts_are_on_the_page():
    assert set(Counts(lambda: 0.0).totals()) == TERMS


def test_what_can_be_asked_and_what_becomes_of_requests_is_on_the_page():
    assert set(re.findall(r"``(?:GET|POST)(?:`` or ``POST)? /_admin/([a-z_]+)``", PAGE)) == {
        *admin.QUERIES,
        *admin.COMMANDS,
    }
    for fate in Fate:
        assert f"``{fate.value}``" in PAGE


def test_the_recipes_that_ship_are_named():
    assert f"a recipe that ships: {', '.join(recipes.names())}" in PAGE
