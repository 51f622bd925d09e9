"""What supervisor/ holds: the ways of serving the project, and what runs beside them. Read, never changed."""

from loadtests.setups.knobs import KNOBS, bind, given, port, require_knobs, workers
from loadtests.setups.reading import CANNOT, HTTP, WEBSOCKET, Setup, find, known, lacks, missing

__all__ = ["CANNOT", "HTTP", "KNOBS", "WEBSOCKET", "Setup", "bind", "find", "given", "known", "lacks", "missing"]
__all__ += ["port", "require_knobs", "workers"]
