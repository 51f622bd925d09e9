"""A channel layer for Django Channels between the processes of one machine, without a server."""
