"""Restore removed features of Python that the packages of 2016 need, without changing these packages.

In the environment of this stack, a .pth file imports this module when Python starts (../make.sh).
"""

import collections
import collections.abc
import gettext
import inspect

# These names moved to collections.abc in Python 3.3 and were removed from collections in 3.10.
for _name in collections.abc.__all__:
    if not hasattr(collections, _name):
        setattr(collections, _name, getattr(collections.abc, _name))

# Python 3.11 removed getargspec, which returned the first four values of getfullargspec.
if not hasattr(inspect, "getargspec"):
    _ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
    inspect.getargspec = lambda function: _ArgSpec(*inspect.getfullargspec(function)[:4])

# Python 3.11 removed the encoding of translations as bytes. The stack doesn't use it, so these functions do nothing.
if not hasattr(gettext.NullTranslations, "set_output_charset"):
    gettext.NullTranslations.set_output_charset = lambda self, charset: None
    _translation = gettext.translation

    def _with_codeset(domain, localedir=None, languages=None, class_=None, fallback=False, codeset=None):
        """Call gettext.translation without the former argument ``codeset``."""
        return _translation(domain, localedir, languages, class_, fallback)

    gettext.translation = _with_codeset
