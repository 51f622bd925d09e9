"""An embedded datastore: as much of Google Cloud Datastore's protocol as session stores need, in memory or in SQLite.

It answers Lookup, RunQuery (on properties), BeginTransaction, Commit and Rollback over gRPC and over HTTP, with the
messages of google-cloud-datastore. What it does not know it refuses with UNIMPLEMENTED; nothing is answered wrongly to
keep a client going. It is for measuring and for tests, and listens on this machine only.
"""
