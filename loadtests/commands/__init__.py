"""A file a command, of its name: its options, one call into the code that does the work, what is printed.

To add one: a file like ``doctor.py`` with a function ``command``, and its name in ``loadtests.cli``. Slow imports
are made when the command runs.
"""
