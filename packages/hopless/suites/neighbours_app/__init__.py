"""The Django project of neighbours_scenario.py.

The project contains a model, middleware that sets state or detects the state of other requests, and views that mark
requests.
"""
