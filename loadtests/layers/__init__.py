"""Round trips between two processes: over each channel layer, and over a bare Unix socket as the limit."""

from loadtests.layers.measure import measure
from loadtests.layers.result import LayerResult, LayersReport, Round
from loadtests.layers.table import print_table

__all__ = ["LayerResult", "LayersReport", "Round", "measure", "print_table"]
