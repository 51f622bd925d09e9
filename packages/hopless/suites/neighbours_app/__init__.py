"""The project of the scenario.

It has a model, middleware that detects state of other requests, and views that mark a request.
"""
