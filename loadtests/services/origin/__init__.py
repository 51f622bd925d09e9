"""A slow or failing origin that plays recipes, to measure services that fetch from another service.

- ``recipes`` reads the recipes.
- ``player`` decides the outcome of each request with a clock.
- ``protocol`` answers the requests on sockets.
- ``admin`` answers requests below ``/_admin/``.
- ``counts`` counts requests and connections.
- ``listening`` runs an origin.
"""
