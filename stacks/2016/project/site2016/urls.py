"""Route the endpoint of the load test of 2016, and the endpoint for the health checks of the benchmark."""

from django.conf.urls import url

from . import views

urlpatterns = [
    url(r"^$", views.ok),
    url(r"^healthz$", views.ok),
]

# Without consumers, Channels passes all HTTP requests to Django.
channel_routing = {}
