"""Define middleware that records the state at the start of a request, and middleware that changes state."""

import threading

from django.db import connection
from django.utils import timezone, translation
from django.utils.deprecation import MiddlewareMixin

from neighbours_app.current import CASE, record

local = threading.local()


class FirstLook(MiddlewareMixin):
    """Record the state at the start of a request, before other middleware can change it."""

    def process_request(self, request):
        record("at the start", request.GET["id"], CASE.see())


class ActivateLanguage(MiddlewareMixin):
    """Activate the language and the time zone of a user, and never deactivate them."""

    def process_request(self, request):
        if name := request.GET["who"]:
            translation.activate("de" if int(name[1:]) % 2 else "fr")
            timezone.activate(f"Etc/GMT+{int(name[1:]) % 12}")


class UserInThread(MiddlewareMixin):
    """Store the user in a thread-local variable until the response, as many projects do."""

    def process_request(self, request):
        local.user = request.GET["who"]

    def process_response(self, request, response):
        local.user = None
        return response


class UserAroundView:
    """Store the user in a thread-local variable, and reset it in a ``finally`` block."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        local.user = request.GET["who"]
        try:
            return self.get_response(request)
        finally:
            local.user = None


class SetRole(MiddlewareMixin):
    """Set the role of a user on the database connection until the response."""

    def process_request(self, request):
        if name := request.GET["who"]:
            with connection.cursor() as cursor:
                cursor.execute(f"SET ROLE role_{name}")

    def process_response(self, request, response):
        with connection.cursor() as cursor:
            cursor.execute("RESET ROLE")
        return response


class SetTenant(MiddlewareMixin):
    """Use the schema of a tenant until the response, like django-tenants, but without a table of tenants."""

    def process_request(self, request):
        connection.set_schema(f"schema_{request.GET['who']}" if request.GET["who"] else "public")

    def process_response(self, request, response):
        connection.set_schema_to_public()
        return response
