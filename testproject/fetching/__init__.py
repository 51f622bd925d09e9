"""Fetch from another service, an origin that is slow or fails, over a pool of connections.

docs/slow-origin.rst describes the endpoints, the clients and their pools.
"""
