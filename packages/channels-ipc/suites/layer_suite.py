"""Run the tests of other channel layers on ``IPCChannelLayer``.

``python packages/channels-ipc/suites/layer_suite.py [--channels CHECKOUT]`` gets the tests of the installed
channels_redis version from its sdist. It expects two of them to fail on Redis. The sdist of Channels doesn't contain
tests. With ``--channels``, the program also runs the tests of Channels' layer in memory from a checkout. It fails if an
applicable test fails, or if the list of other tests contains a missing test.
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
NEEDED = ("pytest-asyncio==1.5.0", "async-timeout==5.0.1")  # only these tests need them
REDIS = "asks for keys, hosts or connections of Redis"
IN_MEMORY = "looks into the dict of the layer in memory"
# The tests that don't apply, with the reasons.
DOES_NOT_APPLY = {
    "test_core.py::test_reject_bad_client_prefix": "wants an AssertionError; ours is a ValueError",
    "test_core.py::test_random_reset__client_prefix": "looks at client_prefix; names are the process's here",
    "test_core.py::test_default_group_key_format": REDIS,
    "test_core.py::test_custom_group_key_format": REDIS,
    "test_core.py::test_receive_buffer_respects_capacity": "looks into a buffer that is not there",
    "test_pubsub.py::test_loop_instance_channel_layer_reference": REDIS,
    "test_pubsub.py::test_multi_event_loop_garbage_collection": REDIS,
    "test_pubsub.py::test_auto_reconnect": REDIS,
    "test_pubsub.py::test_receive_on_non_owned_general_channel": "sends a text; a message is a dict",
    "test_pubsub.py::test_serialize": "asks for the serializers of channels_redis",
    "test_pubsub.py::test_deserialize": "asks for the serializers of channels_redis",
    "test_inmemorychannel.py::test_send_receive": IN_MEMORY,
    "test_inmemorychannel.py::test_race_empty": IN_MEMORY,
    "test_inmemorychannel.py::test_expiry_single": IN_MEMORY,
    "test_inmemorychannel.py::test_expiry_unread": IN_MEMORY,
    "test_inmemorychannel.py::test_expiry_multi": IN_MEMORY,
}


def fetch(folder: Path, requirement: str) -> Path:
    """Return the folder of the extracted sdist from the package index."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*command, "--dest", folder, requirement], check=True)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as found:
        found.extractall(folder, filter="data")
    archive.unlink()
    return next(one for one in folder.iterdir() if one.is_dir())


def run(tests: Path, names: list[str], extra: Path) -> None:
    """Run these test files without the tests that don't apply.

    Raises:
        SystemExit: If a test fails, or a test in the list doesn't exist.
    """
    left_out = {test: why for test, why in DOES_NOT_APPLY.items() if test.partition("::")[0] in names}
    for test in left_out:
        file, _, name = test.partition("::")
        if f"def {name}(" not in (tests / file).read_text(encoding="utf-8"):
            sys.exit(f"{test} is listed as a test that doesn't apply, but it doesn't exist")
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
    parser.add_argument("--channels", type=Path, metavar="CHECKOUT", help="of Channels, for the tests of its own layer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="layer-suite-") as name:
        folder = Path(name)
        extra = folder / "extra"
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--target", extra, *NEEDED], check=True)
        version = importlib.metadata.version("channels-redis")
        (folder / "sdist").mkdir()
        sdist = fetch(folder / "sdist", f"channels-redis=={version}")
        print(f"tests of channels_redis {version}, on IPCChannelLayer")
        run(sdist / "tests", ["test_core.py", "test_pubsub.py"], extra)
        if options.channels:
            print("tests of Channels' layer in memory, on IPCChannelLayer")
            shutil.copytree(options.channels / "tests", folder / "tests")
            run(folder / "tests", ["test_inmemorychannel.py"], extra)


if __name__ == "__main__":
    main()
