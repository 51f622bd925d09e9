"""An in-memory datastore for measurements and tests, with the part of Google Cloud Datastore that sessions need.

The datastore answers Lookup and Commit over gRPC and over HTTP, with the messages of google-cloud-datastore. It refuses
all other methods with UNIMPLEMENTED, and listens only on the loopback interface.
"""
