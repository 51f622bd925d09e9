"""Test the request counter with concurrent requests, including the first requests of a process."""

import threading
from concurrent.futures import ThreadPoolExecutor

from endpoints.counting import Counter
from fetching.gauges import NUMBERS


def test_concurrent_requests_are_all_counted(tmp_path):
    counter = Counter(tmp_path)
    begin = threading.Barrier(8)

    def requests():
        begin.wait()
        for _ in range(500):
            counter()

    with ThreadPoolExecutor(8) as threads:
        for begun in [threads.submit(requests) for _ in range(8)]:
            begun.result()
    [file] = tmp_path.glob("requests-*")
    assert NUMBERS.unpack(file.read_bytes())[0] == counter.count == 8 * 500
    counter.shown.memory.close()
