from django.urls import path

from questionnaire import views

app_name = "questionnaire"
urlpatterns = [
    path("launch/", views.launch, name="launch"),
    path("session", views.session, name="session"),
    path("introduction/", views.step, {"step": "introduction"}, name="introduction"),
    path("summary/", views.step, {"step": "summary"}, name="summary"),
    path("thank-you/", views.leave, {"step": "thank-you"}, name="thank-you"),
    path("signed-out/", views.signed_out, name="signed-out"),
    path("<slug:page>/", views.step, {"step": "page"}, name="page"),
]
