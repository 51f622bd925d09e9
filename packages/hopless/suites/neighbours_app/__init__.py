"""The project of the scenario: a model, middleware that looks for foreign state, and views that mark a request."""
