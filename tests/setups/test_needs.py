"""What the setups need is looked for where they would take it from."""

import pytest

from loadtests.setups import needs


@pytest.fixture
def bin(tmp_path, monkeypatch):
    """A folder of commands, the only one of this machine."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(needs, "SYSTEM", ())
    return tmp_path


def make(bin, name):
    (bin / name).touch(mode=0o700)


def test_mod_wsgi_needs_the_apache_whose_headers_it_was_compiled_with(bin):
    make(bin, "mod_wsgi-express")
    assert needs.missing_needs(["mod_wsgi"], bin) == ["mod_wsgi"]
    make(bin, "apache2")
    assert needs.missing_needs(["mod_wsgi"], bin) == []
