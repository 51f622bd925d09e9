"""The results of the benchmark of round trips."""

from __future__ import annotations

import dataclasses
import statistics
from typing import Any

SCHEMA = 1

SOCKET = "unix-socket"
IPC = "channels_ipc"
REDIS = "channels_redis"
PUBSUB = "channels_redis.pubsub"
MEMORY = "in memory"
PIPES = "bare pipes"

# What channels_ipc promises, against channels_redis in the same run.
RATE_BAR = 5.0
MEDIAN_BAR = 0.25


@dataclasses.dataclass(frozen=True)
class LayerRound:
    """One start of the two processes.

    ``p50_us`` and ``p99_us`` are round-trip times, in microseconds, with one under way at a time; ``per_second`` is
    the rate of completed round trips with many under way, and ``cpu_us`` what each of those took of all processes' CPU
    time, that of the layer's server with it (not of one at REDIS_URL). ``sent`` and ``delivered`` count both.
    """

    p50_us: float
    p99_us: float
    per_second: float
    cpu_us: float
    sent: int
    delivered: int


@dataclasses.dataclass(frozen=True)
class LayerResult:
    """All rounds of one layer."""

    name: str
    rounds: tuple[LayerRound, ...]

    def median(self, figure: str) -> float:
        return statistics.median(float(getattr(one, figure)) for one in self.rounds)

    @property
    def sent(self) -> int:
        return sum(one.sent for one in self.rounds)

    @property
    def delivered(self) -> int:
        return sum(one.delivered for one in self.rounds)


@dataclasses.dataclass(frozen=True)
class LayersReport:
    """The layers compared, and the conditions."""

    layers: tuple[LayerResult, ...]
    cores: tuple[int, ...]
    duration_s: float
    in_flight: int
    body_bytes: int

    def layer(self, name: str) -> LayerResult:
        return next(layer for layer in self.layers if layer.name == name)

    @property
    def rate_ratio(self) -> float:
        """Round trips per second, channels_ipc to channels_redis: the median of the ratios within each round."""
        return statistics.median(ours.per_second / theirs.per_second for ours, theirs in self._pairs())

    @property
    def median_ratio(self) -> float:
        """Median round-trip time, channels_ipc to channels_redis: the median of the ratios within each round."""
        return statistics.median(ours.p50_us / theirs.p50_us for ours, theirs in self._pairs())

    @property
    def cpu_ratio(self) -> float:
        """CPU time of a round trip, channels_ipc to channels_redis: the median of the ratios within each round."""
        return statistics.median(ours.cpu_us / theirs.cpu_us for ours, theirs in self._pairs())

    @property
    def meets_the_bar(self) -> bool:
        return self.rate_ratio >= RATE_BAR and self.median_ratio <= MEDIAN_BAR

    def _pairs(self) -> list[tuple[LayerRound, LayerRound]]:
        return list(zip(self.layer(IPC).rounds, self.layer(REDIS).rounds, strict=True))

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "cores": list(self.cores),
            "duration_s": self.duration_s,
            "in_flight": self.in_flight,
            "body_bytes": self.body_bytes,
            "layers": [
                {
                    "name": layer.name,
                    "round_trip_us": {"p50": layer.median("p50_us"), "p99": layer.median("p99_us")},
                    "round_trips_per_second": layer.median("per_second"),
                    "cpu_us": layer.median("cpu_us"),
                    "sent": layer.sent,
                    "delivered": layer.delivered,
                    "rounds": [dataclasses.asdict(one) for one in layer.rounds],
                }
                for layer in self.layers
            ],
            "ipc_to_redis": {
                "round_trips_per_second": self.rate_ratio,
                "p50": self.median_ratio,
                "cpu": self.cpu_ratio,
                "holds_the_bar": self.meets_the_bar,
            },
        }
