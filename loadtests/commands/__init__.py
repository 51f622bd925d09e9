"""Define one command in each file: its options, a call of the code that does the work, and its output.

To add a command, create a file like ``doctor.py`` with a function ``command``, and add its name to ``loadtests.cli``.
Import slow modules inside the function.
"""
