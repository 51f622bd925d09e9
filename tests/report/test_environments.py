"""Test the sentences about differences between the environments of a run's setups."""

import types

import pytest

from loadtests.records.run.run_record import EnvironmentRecord
from loadtests.report.environments import sentences

PACKAGES = {"Django": "5.2.19", "granian": "2.8.7", "sphinx": "8.1.3"}


@pytest.mark.parametrize(
    ("own", "packages", "text"),
    [
        (False, {"Django": "5.2.19", "granian": "2.7.9"}, "granian 2.7.9 (not 2.8.7)"),
        (True, {"Django": "6.1.3", "granian": "2.8.7", "new": "1"}, "Django 6.1.3 (not 5.2.19), new 1 (new)"),
        (True, {"Django": "5.2.19", "granian": "2.8.7"}, "sphinx missing (not 8.1.3)"),
        (False, {f"p{number}": "1" for number in range(10)}, "2 more, listed in run.json"),
    ],
)
def test_differing_packages_are_named(own, packages, text):
    record = types.SimpleNamespace(
        application=types.SimpleNamespace(python="3.11.7", packages=PACKAGES) if own else None,
        versions={"python": "CPython 3.11.7", "packages": PACKAGES},
        environments=(EnvironmentRecord(("a==1", "b==2"), "3.11.7", packages),),
    )
    [sentence] = sentences(record)
    assert sentence.startswith("With a==1 and b==2: ")
    assert text in sentence


def test_deployed_command_lacks_no_packages():
    record = types.SimpleNamespace(
        application=types.SimpleNamespace(python="3.11.7", packages=PACKAGES),
        environments=(EnvironmentRecord(("/srv/Procfile",), "3.11.7", {"Django": "5.2.19", "granian": "2.7.9"}),),
    )
    assert list(sentences(record)) == ["With /srv/Procfile: granian 2.7.9 (not 2.8.7)."]
