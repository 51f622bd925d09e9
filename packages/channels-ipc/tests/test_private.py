"""Test that only one user can access the directory."""

import asyncio
import os
import stat
import subprocess
import sys

import pytest
from channels_ipc.core import IPCChannelLayer
from channels_ipc.directory import data_file, default_path
from django.core.exceptions import ImproperlyConfigured

OTHER_USER = 65534

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can switch to another user")


def use(layer):
    async def scenario():
        await layer.send("channel", {"n": 1})
        assert await layer.receive("channel") == {"n": 1}
        await layer.new_channel()

    asyncio.run(scenario())


def test_created_files_are_private(layer, path):
    use(layer)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert list(path.iterdir())
    assert all(stat.S_IMODE(entry.stat().st_mode) == 0o600 for entry in path.iterdir())


def test_readable_directory_becomes_private(layer, path):
    path.mkdir(mode=0o755)
    use(layer)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_writable_directory_is_refused(layer, path):
    path.mkdir()
    path.chmod(0o777)
    with pytest.raises(ImproperlyConfigured, match="Other users may write"):
        use(layer)


def test_symbolic_link_is_refused(layer, path):
    target = path.with_name("target")
    target.mkdir(mode=0o700)
    path.symlink_to(target)
    with pytest.raises(ImproperlyConfigured, match="is a symbolic link"):
        use(layer)


def test_file_instead_of_directory_is_refused(layer, path):
    path.write_text("")
    with pytest.raises(ImproperlyConfigured, match="is not a directory"):
        use(layer)


@as_root
def test_directory_of_another_user_is_refused(layer, path):
    path.mkdir(mode=0o700)
    os.chown(path, OTHER_USER, OTHER_USER)
    with pytest.raises(ImproperlyConfigured, match="belongs to user 65534"):
        use(layer)


@as_root
def test_other_users_have_no_access(layer, path):
    path.parent.chmod(0o755)
    use(layer)
    names = [entry.name for entry in path.iterdir()]
    code = """
import os, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
path, *names = sys.argv[1:]
for attempt in (
    lambda: os.listdir(path),
    lambda: os.mkfifo(os.path.join(path, "ipc0123456789abcdef")),
    *(lambda flags=flags, name=name: os.open(os.path.join(path, name), flags | os.O_NONBLOCK)
      for name in names for flags in (os.O_RDONLY, os.O_WRONLY)),
):
    try:
        attempt()
    except PermissionError:
        continue
    sys.exit("allowed")
print("refused")
"""
    found = subprocess.run(
        [sys.executable, "-S", "-c", code, str(path), *names], capture_output=True, text=True, check=False
    )
    assert (found.stdout, found.stderr) == ("refused\n", "")


def test_default_directory_belongs_to_user():
    assert default_path().endswith(f"channels_ipc-{os.geteuid()}")
    assert IPCChannelLayer().path == default_path()


def test_path_can_exceed_socket_limit(make_layer, path):
    use(make_layer(path=path / ("a" * 100) / ("b" * 100)))


def test_file_of_earlier_boot_is_removed(layer, path):
    path.mkdir(mode=0o700)
    stale = [path / "channels-0123.mdb", path / "channels-0123.mdb-lock"]
    for file in stale:
        file.write_text("cut off by a power failure")
    unrelated = path / "notes.txt"
    unrelated.write_text("kept")
    use(layer)
    assert not any(file.exists() for file in stale)
    assert unrelated.exists()
    assert os.path.exists(data_file(str(path)))
