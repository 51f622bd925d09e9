"""Views that fetch from another service: from an origin that is slow or fails, over a pool of connections.

docs/slow-origin.rst has the endpoints, the clients and their pools.
"""
