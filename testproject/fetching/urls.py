from django.urls import path

from fetching import views
from fetching.either import EitherPattern

urlpatterns = [
    path("fetch", views.fetch),
    path("async/fetch", views.fetch_async),
    EitherPattern("either/fetch", views.fetch, views.fetch_async),
    path("fetch/resilient", views.resilient),
    path("async/fetch/resilient", views.resilient_async),
    EitherPattern("either/fetch/resilient", views.resilient, views.resilient_async),
]
