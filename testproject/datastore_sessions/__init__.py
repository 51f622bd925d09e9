"""Django's sessions in Google Cloud Datastore."""
