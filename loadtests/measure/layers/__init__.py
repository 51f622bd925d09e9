"""Round trips between two processes: over each channel layer, and over a bare Unix socket as the limit."""

from loadtests.measure.layers.accounting import LayerDeliveries, deliveries
from loadtests.measure.layers.measure import measure
from loadtests.measure.layers.rounds import LayerResult, LayerRound, LayersReport

__all__ = ["LayerDeliveries", "LayerResult", "LayerRound", "LayersReport", "deliveries", "measure"]
