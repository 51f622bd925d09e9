"""Run Django's own session store tests, from the sdist, with the datastore's session store."""

import os
import subprocess
import sys
import tarfile

import django
import pytest

from loadtests.files import ROOT

TESTS = """
import unittest

import django
from django.conf import settings
from django.test import SimpleTestCase, override_settings
from django.test.utils import setup_test_environment

settings.configure(
    INSTALLED_APPS=["django.contrib.sessions", "sessions_tests"],
    SESSION_ENGINE="datastore_sessions.backend",
    SECRET_KEY="for tests",
    USE_TZ=False,
)
django.setup()
setup_test_environment()

from datastore_sessions.backend import SessionStore
from sessions_tests import tests


class DatastoreSessionTests(tests.SessionTestsMixin, SimpleTestCase):
    backend = SessionStore


@override_settings(USE_TZ=True)
class DatastoreSessionWithTimeZoneTests(DatastoreSessionTests):
    pass


if __name__ == "__main__":
    print(2 * sum(name.startswith("test_") for name in dir(tests.SessionTestsMixin)))
    unittest.main()
"""


@pytest.fixture(scope="module")
def djangos_tests(tmp_path_factory):
    """Return the folder ``tests`` in the sdist of the installed Django version."""
    folder = tmp_path_factory.mktemp("sdist")
    options = ["--quiet", "--no-deps", "--no-binary", ":all:", "--dest", folder]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, f"Django=={django.__version__}"], check=True)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as found:
        found.extractall(folder, filter="data")
    return next(folder.glob("*/tests"))


@pytest.mark.servers
@pytest.mark.exhaustive
@pytest.mark.parametrize("grpc", ["1", "0"], ids=["gRPC", "HTTP"])
def test_session_tests_of_django_pass(djangos_tests, datastore, tmp_path, grpc):
    file = tmp_path / "of_datastore.py"
    file.write_text(TESTS)
    path = os.pathsep.join([str(djangos_tests), str(ROOT / "testproject")])
    environment = {**os.environ, "PYTHONPATH": path, "DATASTORE_GRPC": grpc}
    done = subprocess.run([sys.executable, file], env=environment, capture_output=True, text=True, timeout=100)
    assert f"\nRan {done.stdout.strip()} tests in " in done.stderr, done.stderr[-3000:]
    assert int(done.stdout) > 0
    assert done.stderr.strip().endswith("OK"), done.stderr[-3000:]
