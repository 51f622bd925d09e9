"""Test a layer whose file system is full or becomes full."""

import asyncio
import errno
import os
import subprocess
import textwrap

import pytest

FILL = """
mount = os.path.dirname(os.environ["LAYER"])
os.mkdir(os.environ["LAYER"], 0o700)
def fill(free):
    space = os.statvfs(mount)
    with open(f"{mount}/filler", "wb") as filler:
        os.posix_fallocate(filler.fileno(), 0, space.f_bavail * space.f_frsize - free)
"""


@pytest.fixture
def small_file_system(path, request):
    """Mount a file system at the parent of ``path``. The file system's size is 1 MB, or the test's parameter."""
    options = f"size={getattr(request, 'param', '1m')},mode=0700"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", path.parent], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("the user can't mount a file system")
    yield path.parent
    subprocess.run(["umount", "--lazy", path.parent], check=True)


@pytest.mark.usefixtures("small_file_system")
@pytest.mark.parametrize("free", [0, 4096, 8192, 40960])
def test_opening_fails_on_full_disk(start, free):
    process = start(
        FILL
        + textwrap.dedent("""
    try:
        fill(int(sys.argv[1]))
        asyncio.run(layer.new_channel())
    except OSError as error:
        print(error.errno)
    os.unlink(f"{mount}/filler")
    asyncio.run(layer.send("channel", {"n": 1}))
    print(asyncio.run(layer.receive("channel")))
    """),
        free,
    )
    assert process.communicate(timeout=20)[0] == f"{errno.ENOSPC}\n{{'n': 1}}\n"
    assert process.returncode == 0


@pytest.mark.usefixtures("small_file_system")
def test_existing_directory_opens_on_full_disk(start, layer):
    process = start(
        FILL
        + textwrap.dedent("""
    asyncio.run(layer.send("channel", {"n": 1}))
    fill(0)
    print("full", flush=True)
    sys.stdin.readline()
    """)
    )
    assert process.stdout.readline() == "full\n"
    assert asyncio.run(layer.receive("channel")) == {"n": 1}


@pytest.mark.usefixtures("small_file_system")
def test_messages_are_received_on_full_disk(start):
    process = start(
        FILL
        + textwrap.dedent("""
    async def main():
        await layer.group_add("group", "member")
        fill(0)
        sent = 0
        try:
            while True:
                await layer.send("channel", {"n": sent, "body": bytes(1000)})
                sent += 1
        except ChannelFull:
            print("full")
        await layer.group_discard("group", "member")
        for n in range(sent):
            assert (await layer.receive("channel"))["n"] == n
        await layer.flush()
        await layer.close()
        await layer.send("channel", {"n": 1})
        print(await layer.receive("channel"))
    asyncio.run(main())
    """),
        capacity=10**9,
    )
    assert process.communicate(timeout=20)[0] == "full\n{'n': 1}\n"


@pytest.mark.parametrize("small_file_system", ["30m"], indirect=True)
@pytest.mark.usefixtures("small_file_system")
def test_full_store_can_be_flushed(start):
    """Fill a store that contains gaps of many sizes, so that LMDB has no space for a list of all free pages."""
    process = start(
        """
    import random

    async def fill():
        try:
            while True:
                await layer.send(f"channel{random.randrange(7)}", {"body": bytes(random.randrange(9000))})
        except ChannelFull:
            pass

    async def main():
        random.seed(1)
        await layer.group_add("group", "member")
        await fill()
        for n in range(1400):
            await layer.receive(f"channel{n % 3}")
        await fill()
        await layer.flush()
        print(layer.statistics()["entries"])
        await layer.send("channel1", {"n": 1})
        print(await layer.receive("channel1"))
    asyncio.run(main())
    """,
        capacity=10**9,
    )
    assert process.communicate(timeout=60)[0] == "0\n{'n': 1}\n"


@pytest.mark.parametrize("call", ["group_discard('group', 'member')", "flush()"])
def test_failed_removal_can_be_repeated(start, call):
    process = start(f"""
    import resource
    asyncio.run(layer.group_add("group", "member"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    try:
        asyncio.run(layer.{call})
    except OSError as error:
        print(error.errno)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    asyncio.run(layer.{call})
    print(layer.statistics()["entries"])
    """)
    assert process.communicate(timeout=20)[0] == f"{errno.ENOSPC}\n0\n"


def test_opening_fails_with_file_limit(start):
    process = start("""
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    try:
        asyncio.run(layer.new_channel())
    except OSError as error:
        print(error.errno, error.filename)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    asyncio.run(layer.send("channel", {"n": 1}))
    print(asyncio.run(layer.receive("channel")))
    """)
    first, second = process.communicate(timeout=20)[0].splitlines()
    assert first.startswith(f"{errno.ENOSPC} ")
    assert second == "{'n': 1}"


def test_unfinished_files_are_removed(layer, path):
    asyncio.run(layer.new_channel())
    unfinished = path / "new-0123456789abcdef"
    unfinished.write_bytes(b"")
    os.utime(unfinished, (0, 0))
    asyncio.run(layer.send("channel", {}))
    assert not unfinished.exists()
