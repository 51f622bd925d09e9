"""An origin that is slow, or stumbles, as recipes say: what a service that fetches from another one is measured with.

From a file to an answer: ``from_json`` reads and judges recipes (``recipes``, ``latencies``, ``content``, ``amounts``);
``player`` decides by a clock what becomes of each request; ``protocol`` does it on sockets, ``admin`` answers below
``/_admin/``, ``counts`` keeps what was seen, and ``listening`` holds them together.
"""
