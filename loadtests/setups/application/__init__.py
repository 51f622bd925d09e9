"""The served application: the sample project in testproject/, or the user's own Django project."""

from loadtests.setups.application.base import Application, sample

__all__ = ["Application", "sample"]
