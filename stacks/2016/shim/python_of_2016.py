"""Gives back what Python has taken away since 2016 and the packages of then ask for; nothing of theirs is changed.

A .pth file in the environment of this stack imports it when Python starts (../make.sh).
"""

import collections
import collections.abc
import gettext
import inspect

# Moved to collections.abc in Python 3.3, gone from collections in 3.10.
for _name in collections.abc.__all__:
    if not hasattr(collections, _name):
        setattr(collections, _name, getattr(collections.abc, _name))

# Gone in Python 3.11: the first four of what getfullargspec has.
if not hasattr(inspect, "getargspec"):
    _ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
    inspect.getargspec = lambda function: _ArgSpec(*inspect.getfullargspec(function)[:4])

# Gone in Python 3.11: the encoding of translations that are asked for as bytes, which nobody does.
if not hasattr(gettext.NullTranslations, "set_output_charset"):
    gettext.NullTranslations.set_output_charset = lambda self, charset: None
    _translation = gettext.translation

    def _with_codeset(domain, localedir=None, languages=None, class_=None, fallback=False, codeset=None):
        """gettext.translation, with the argument ``codeset`` that it had."""
        return _translation(domain, localedir, languages, class_, fallback)

    gettext.translation = _with_codeset
