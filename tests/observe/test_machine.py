"""The versions of what is not a Python package."""

import stat

from loadtests.observe import machine


def program(folder, name, script):
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def test_the_versions_of_nginx_and_apache_are_what_they_say_of_themselves(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    program(tmp_path, "nginx", "echo 'nginx version: nginx/1.22.1' >&2")
    program(tmp_path, "apache2", "echo 'Server version: Apache/2.4.62 (Debian)'; echo 'Server built: 2024/10'")
    versions = machine.versions()
    assert (versions["nginx"], versions["apache"]) == ("1.22.1", "2.4.62")


def test_a_server_that_says_nothing_of_its_version_has_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    program(tmp_path, "nginx", "exit 1")
    assert machine.versions()["nginx"] is None
