"""A Django project whose views cause the problems that the tests look for."""
