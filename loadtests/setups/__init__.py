"""Read the setups and services in supervisor/."""

from loadtests.setups.knobs import KNOBS as KNOBS
from loadtests.setups.knobs import bind as bind
from loadtests.setups.knobs import database as database
from loadtests.setups.knobs import given as given
from loadtests.setups.knobs import offers_needed as offers_needed
from loadtests.setups.knobs import port as port
from loadtests.setups.knobs import prefixed as prefixed
from loadtests.setups.knobs import require_knobs as require_knobs
from loadtests.setups.knobs import software_needed as software_needed
from loadtests.setups.knobs import take as take
from loadtests.setups.knobs import tls as tls
from loadtests.setups.knobs import without_servers as without_servers
from loadtests.setups.knobs import workers as workers
from loadtests.setups.reading import CANNOT as CANNOT
from loadtests.setups.reading import HTTP as HTTP
from loadtests.setups.reading import OFFERS as OFFERS
from loadtests.setups.reading import WEBSOCKET as WEBSOCKET
from loadtests.setups.reading import Setup as Setup
from loadtests.setups.reading import find as find
from loadtests.setups.reading import known as known
from loadtests.setups.reading import missing as missing
from loadtests.setups.reading import missing_needs as missing_needs
