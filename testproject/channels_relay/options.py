"""Read the setting CHANNELS_RELAY."""

import dataclasses
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


@dataclass(frozen=True)
class Options:
    timeout: float = 30.0
    """The seconds that a front waits for the first part of an answer, and then for each further part."""

    body_limit: int = 4 * 1024 * 1024
    """The largest size of a request body in bytes. The front answers larger bodies with 413."""

    layer: str = "default"
    """The name of the channel layer in CHANNEL_LAYERS."""

    def __post_init__(self) -> None:
        if not isinstance(self.timeout, (int, float)) or self.timeout <= 0:
            raise ImproperlyConfigured(f"CHANNELS_RELAY: timeout must be seconds above 0, not {self.timeout!r}")
        if not isinstance(self.body_limit, int) or self.body_limit < 0:
            raise ImproperlyConfigured(f"CHANNELS_RELAY: body_limit must be a number of bytes, not {self.body_limit!r}")


def options() -> Options:
    """Return the options in the settings.

    Raises:
        ImproperlyConfigured: If an option is unknown or has an invalid value.
    """
    given = getattr(settings, "CHANNELS_RELAY", {})
    known = [field.name for field in dataclasses.fields(Options)]
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ImproperlyConfigured(f"CHANNELS_RELAY: unknown option {', '.join(unknown)}. Allowed: {', '.join(known)}")
    return Options(**given)
