"""Run the tests of other channel layers on ``IPCChannelLayer``.

``python packages/channels-ipc/suites/layer_suite.py [--channels CHECKOUT]`` runs the tests in the sdist of the
installed version of channels_redis. In these tests, two failures are expected even with Redis. With ``--channels``, the
program also runs the tests of Channels' in-memory layer. These tests are in a checkout, because the sdist of Channels
contains no tests. The program fails if an applicable test fails, or if ``DOES_NOT_APPLY`` contains a test that doesn't
exist.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

SUITES = Path(__file__).parent
NEEDED = ("pytest-asyncio==1.5.0", "async-timeout==5.0.1")  # only required for these tests
REDIS = "checks keys, hosts or connections of Redis"
IN_MEMORY = "checks the dict of the in-memory layer"
# Tests that don't apply to channels_ipc, with the reasons.
DOES_NOT_APPLY = {
    "test_core.py::test_reject_bad_client_prefix": "expects an AssertionError instead of a ValueError",
    "test_core.py::test_random_reset__client_prefix": "checks client_prefix, but channels_ipc has process prefixes",
    "test_core.py::test_default_group_key_format": REDIS,
    "test_core.py::test_custom_group_key_format": REDIS,
    "test_core.py::test_receive_buffer_respects_capacity": "checks a buffer that doesn't exist in channels_ipc",
    "test_pubsub.py::test_loop_instance_channel_layer_reference": REDIS,
    "test_pubsub.py::test_multi_event_loop_garbage_collection": REDIS,
    "test_pubsub.py::test_auto_reconnect": REDIS,
    "test_pubsub.py::test_receive_on_non_owned_general_channel": "sends a string, but a message must be a dict",
    "test_pubsub.py::test_serialize": "checks the serializers of channels_redis",
    "test_pubsub.py::test_deserialize": "checks the serializers of channels_redis",
    "test_inmemorychannel.py::test_send_receive": IN_MEMORY,
    "test_inmemorychannel.py::test_race_empty": IN_MEMORY,
    "test_inmemorychannel.py::test_expiry_single": IN_MEMORY,
    "test_inmemorychannel.py::test_expiry_unread": IN_MEMORY,
    "test_inmemorychannel.py::test_expiry_multi": IN_MEMORY,
}


def fetch(folder: Path, requirement: str) -> Path:
    """Download an sdist from the package index, extract it, and return its folder."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*command, "--dest", folder, requirement], check=True)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as found:
        found.extractall(folder, filter="data")
    archive.unlink()
    return next(one for one in folder.iterdir() if one.is_dir())


def run(tests: Path, names: list[str], extra: Path) -> None:
    """Run test files without the tests that don't apply.

    Raises:
        SystemExit: If a test fails, or if a test in DOES_NOT_APPLY doesn't exist.
    """
    left_out = {test: why for test, why in DOES_NOT_APPLY.items() if test.partition("::")[0] in names}
    for test in left_out:
        file, _, name = test.partition("::")
        if f"def {name}(" not in (tests / file).read_text(encoding="utf-8"):
            sys.exit(f"DOES_NOT_APPLY contains {test}, which doesn't exist")
    (tests / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n", encoding="utf-8")
    paths = [str(SUITES), str(SUITES.parent), str(extra)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "stand_in",
         "--noconftest", *(f"--deselect={test}" for test in left_out), *names],
        cwd=tests, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    summary = done.stdout.strip().rpartition("\n")[2]
    if done.returncode or not re.search(r"\d+ passed", summary):
        sys.exit(done.stdout + done.stderr)
    print(f"  {', '.join(names)}: {summary}")
    for test, why in left_out.items():
        print(f"  left out: {test}: {why}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--channels", type=Path, metavar="CHECKOUT", help="the folder of a checkout of Channels")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="layer-suite-") as name:
        folder = Path(name)
        extra = folder / "extra"
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--target", extra, *NEEDED], check=True)
        version = importlib.metadata.version("channels-redis")
        (folder / "sdist").mkdir()
        sdist = fetch(folder / "sdist", f"channels-redis=={version}")
        print(f"tests of channels_redis {version} with IPCChannelLayer")
        run(sdist / "tests", ["test_core.py", "test_pubsub.py"], extra)
        if options.channels:
            print("tests of Channels' in-memory layer with IPCChannelLayer")
            shutil.copytree(options.channels / "tests", folder / "tests")
            run(folder / "tests", ["test_inmemorychannel.py"], extra)


if __name__ == "__main__":
    main()
