"""The endpoint of the load test of 2016, and the one by which the harness sees that all is up."""

from django.conf.urls import url

from . import views

urlpatterns = [
    url(r"^$", views.ok),
    url(r"^healthz$", views.ok),
]

# Nothing but HTTP, which Channels hands to Django where no consumer asks for it.
channel_routing = {}
