"""What is served: the sample project in testproject/, or a Django project of the user's."""

from loadtests.setups.application.base import Application, sample

__all__ = ["Application", "sample"]
