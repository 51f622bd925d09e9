"""Test that a new service needs only a file in supervisor/services.

The service runs with a setup. Its cost is shown, but not charged to the setup.
"""

import shutil
import sys

import pytest

from loadtests import files
from loadtests.errors import UserError
from loadtests.setups import services
from tests.fixtures.served import served

SLEEPER = f"""
[service:sleeper]
label=A program that sleeps

[group:sleeper]
programs=sleeper

[program:sleeper]
process_name=sleeper
command={sys.executable} -c "import time; time.sleep(60)"
autostart=false
stopasgroup=true
killasgroup=true
"""


@pytest.fixture
def sleeper(tmp_path, monkeypatch):
    """Return a copy of supervisor/ with an additional service."""
    shutil.copytree(files.SUPERVISOR, tmp_path / "supervisor")
    file = tmp_path / "supervisor" / "services" / "sleeper.conf"
    file.write_text(SLEEPER)
    monkeypatch.setattr(files, "SUPERVISOR", tmp_path / "supervisor")
    return file


@pytest.mark.servers
def test_setup_waits_for_uncharged_service(sleeper):
    ready = "import os, time; time.sleep(2); open(os.environ['RUN_DIR'] + '/there', 'w').close(); time.sleep(60)"
    slow = SLEEPER.replace("import time; time.sleep(60)", ready)
    sleeper.write_text(slow.replace("label=", "ready=there\nlabel="))
    with served("gunicorn", "sleeper") as running:
        assert (running.folder / "there").exists()
        assert {(part.role, part.charged) for part in running.parts()} == {("web", True), ("sleeper", False)}


def test_invalid_service_file_is_named(sleeper):
    sleeper.write_text("[group:sleeper]\nprograms=sleeper\n")
    with pytest.raises(UserError, match=r"sleeper\.conf does not describe a service: it lacks 'service:sleeper'"):
        services.known()
