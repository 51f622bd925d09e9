"""Benchmarks of the channel layers alone: round trips between two processes, and deliveries to a group."""

from loadtests.measure.layers.accounting import LayerDeliveries, deliveries
from loadtests.measure.layers.measure import measure
from loadtests.measure.layers.rounds import LayerResult, LayerRound, LayersReport

__all__ = ["LayerDeliveries", "LayerResult", "LayerRound", "LayersReport", "deliveries", "measure"]
