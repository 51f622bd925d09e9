"""The page on profiles has what the code has."""

from pathlib import Path

from loadtests.profile.classify import Category

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "profiling.rst").read_text(encoding="utf-8")


def test_every_category_is_explained():
    for kind in Category:
        assert f"**{kind.value}**" in PAGE


def test_every_key_of_a_profile_is_explained(about):
    for key in about:
        assert f"``{key}``" in PAGE
    for key in (*about["roles"][0], *about["roles"][0]["shares"][0], *about["windows"][0]):
        assert f"``{key}``" in PAGE
