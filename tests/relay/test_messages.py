import pytest
from channels_relay.options import Options, options
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings


def test_options_come_from_the_settings():
    with override_settings(CHANNELS_RELAY={"timeout": 2, "body_limit": 10}):
        assert options() == Options(timeout=2, body_limit=10)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"timout": 2}, "unknown option timout. Allowed: timeout, body_limit, layer"),
        ({"timeout": 0}, "timeout must be seconds above 0, not 0"),
        ({"timeout": "30"}, "timeout must be seconds above 0, not '30'"),
        ({"body_limit": -1}, "body_limit must be a number of bytes, not -1"),
    ],
)
def test_invalid_options_are_refused(given, complaint):
    with override_settings(CHANNELS_RELAY=given), pytest.raises(ImproperlyConfigured, match=complaint):
        options()
