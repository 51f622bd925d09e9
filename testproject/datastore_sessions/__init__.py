"""Keep Django's sessions in Google Cloud Datastore."""
