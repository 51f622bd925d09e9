"""Decode, add, read and encode HDR histograms in the generator's format.

The format is the compressed V2 encoding that all HdrHistogram libraries share
(https://github.com/HdrHistogram/HdrHistogram, AbstractHistogram.encodeIntoCompressedByteBuffer): a zlib stream of the
counts of the buckets, as zigzag LEB128 numbers. A negative number ``-n`` means ``n`` empty buckets.
"""
# We don't use hdrhistogram 0.10 from PyPI: it rounds ranks, so that 67 of 161 committed histograms have other
# percentiles. It also takes twelve times as long as this module, and decompresses input of any size.

from __future__ import annotations

import base64
import dataclasses
import functools
import math
import struct
import zlib
from collections import Counter
from collections.abc import Iterator

_OUTER = struct.Struct(">ii")
_INNER = struct.Struct(">iiiiqqd")
_COOKIE = 0x1C849313
_COMPRESSED_COOKIE = 0x1C849314
_MAX_BYTES = 1_000_000  # A histogram with three digits for an hour in microseconds contains 23,000 buckets.


@dataclasses.dataclass(frozen=True)
class Histogram:
    """The number of values in each bucket. Values are microseconds with a precision of ``digits`` decimal digits."""

    digits: int
    highest: int
    counts: Counter[int]  # bucket index -> count

    @classmethod
    def decode(cls, text: str) -> Histogram:
        """Decode a histogram from a base64 text.

        Raises:
            ValueError: If the text isn't a histogram.
        """
        try:
            data = base64.b64decode(text, validate=True)
            cookie, length = _OUTER.unpack_from(data)
            # Limit the output, because a few compressed bytes can expand to gigabytes.
            inner = zlib.decompressobj().decompress(data[_OUTER.size : _OUTER.size + length], _MAX_BYTES)
            inner_cookie, payload, _, digits, lowest, highest, _ = _INNER.unpack_from(inner)
        except (ValueError, struct.error, zlib.error) as error:
            raise ValueError(f"not an HDR histogram: {error}") from None
        if (cookie, inner_cookie, lowest) != (_COMPRESSED_COOKIE, _COOKIE, 1):
            raise ValueError("not an HDR histogram in compressed V2 encoding with a lowest value of 1")
        counts: Counter[int] = Counter()
        index = 0
        for number in _numbers(inner[_INNER.size : _INNER.size + payload]):
            if number < 0:
                index -= number
            else:
                if number:
                    counts[index] = number
                index += 1
        return cls(digits, highest, counts)

    @classmethod
    def empty(cls, digits: int = 3) -> Histogram:
        """Return an empty histogram for microseconds up to an hour, like the load generator's histograms."""
        return cls(digits, 3_600_000_000, Counter())

    def record(self, value: int) -> None:
        """Count a value. A value above ``highest`` counts as ``highest``, and a negative value as 0."""
        self.counts[self._bucket_of(min(max(value, 0), self.highest))] += 1

    def encode(self) -> str:
        payload = bytearray()
        index = 0
        for bucket in sorted(self.counts):
            if bucket > index:
                _append(payload, index - bucket if bucket - index > 1 else 0)
            _append(payload, self.counts[bucket])
            index = bucket + 1
        inner = _INNER.pack(_COOKIE, len(payload), 0, self.digits, 1, self.highest, 1.0) + payload
        compressed = zlib.compress(inner)
        return base64.b64encode(_OUTER.pack(_COMPRESSED_COOKIE, len(compressed)) + compressed).decode("ascii")

    def __add__(self, other: Histogram) -> Histogram:
        if self.digits != other.digits:
            raise ValueError("histograms with different precision cannot be added")
        return Histogram(self.digits, max(self.highest, other.highest), self.counts + other.counts)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def over(self, value: float) -> int:
        return sum(count for bucket, count in self.counts.items() if self._highest_in(bucket) > value)

    def values(self) -> Iterator[tuple[int, int]]:
        """Yield the highest value and the count of each bucket that isn't empty, in ascending order."""
        for bucket in sorted(self.counts):
            yield self._highest_in(bucket), self.counts[bucket]

    def percentile(self, percent: float) -> int | None:
        """Return the smallest value that at least ``percent`` percent of all values don't exceed.

        Returns:
            The highest value of the bucket with this value, or None if the histogram is empty.
        """
        rank = max(1, math.ceil(self.total * percent / 100 - 1e-9))
        counted = 0
        for bucket in sorted(self.counts):
            counted += self.counts[bucket]
            if counted >= rank:
                return self._highest_in(bucket)
        return None

    def _highest_in(self, bucket: int) -> int:
        # The first 2 * half buckets have a width of 1. After each further half buckets, the width doubles.
        half = self._half
        power = max(bucket // half - 1, 0)
        return ((bucket - power * half + 1) << power) - 1

    def _bucket_of(self, value: int) -> int:
        power = max((value // self._half).bit_length() - 1, 0)
        return power * self._half + (value >> power)

    @property
    def _half(self) -> int:
        return 1 << (math.ceil(math.log2(2 * 10**self.digits)) - 1)


@functools.lru_cache(maxsize=8)
def decoded(text: str) -> Histogram:
    """Decode a histogram. The last eight histograms are cached."""
    return Histogram.decode(text)


def _numbers(data: bytes) -> list[int]:
    numbers = []
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # the counts stay far below 2 ** 55, so the special ninth byte doesn't occur
            numbers.append((value >> 1) ^ -(value & 1))
            value = shift = 0
        else:
            shift += 7
    return numbers


def _append(data: bytearray, number: int) -> None:
    value = number << 1 if number >= 0 else (-number << 1) - 1
    while value >= 0x80:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
