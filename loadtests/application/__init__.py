"""What is served: the sample project in testproject/, or a Django project of the user's."""

from loadtests.application.base import Application, sample

__all__ = ["Application", "sample"]
