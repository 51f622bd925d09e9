"""``workload``: a recording, printed or written as a workload file."""

from loadtests.workload import from_toml


def test_a_log_is_converted(command, tmp_path):
    log = tmp_path / "access.log"
    log.write_text('1.2.3.4 - - [21/Nov/2026:10:00:00 +0000] "GET /a[b]?c HTTP/1.1" 200 5\n')
    code, printed, _ = command("workload", "log", log)
    assert (code, 'path = "/a[b]?c"' in printed) == (0, True)
    output = tmp_path / "site.toml"
    code, told, _ = command("workload", "log", log, "--output", output, "--times")
    assert (code, "requests taken: 1, different ones: 1" in told) == (0, True)
    assert [request.path for request in from_toml.read(output).requests] == ["/a[b]?c"]
