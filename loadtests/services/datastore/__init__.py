"""An embedded datastore: the part of Google Cloud Datastore's protocol that the session store needs, in memory.

It answers Lookup and Commit over gRPC and over HTTP, with the messages of google-cloud-datastore. It refuses everything
else with UNIMPLEMENTED. It is for measurements and tests, and listens only on the loopback interface.
"""
