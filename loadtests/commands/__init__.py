"""A file a command, of its name: what it can be told, one call into what does the work, and what is printed.

To add one: a file beside ``doctor.py`` with a function ``command``, and its name in ``loadtests.cli``. What is slow to
import is imported when the command runs.
"""
