"""An origin that is slow, or stumbles, as recipes say: what a service that fetches from another one is measured with.

``recipes`` reads them; ``player`` decides by a clock what becomes of each request; ``protocol`` does it on sockets,
``admin`` answers below ``/_admin/``, ``counts`` counts, and ``listening`` holds them together.
"""
