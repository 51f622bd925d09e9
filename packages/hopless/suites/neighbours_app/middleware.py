"""Middleware that records the state that a request finds, and middleware that changes state."""

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
    """Activate the language and the timezone of a user, and leave them active."""

    def process_request(self, request):
        if name := request.GET["who"]:
            translation.activate("de" if int(name[1:]) % 2 else "fr")
            timezone.activate(f"Etc/GMT+{int(name[1:]) % 12}")


class UserInThread(MiddlewareMixin):
    """Keep the user in a variable of the thread until the response, as many projects do."""

    def process_request(self, request):
        local.user = request.GET["who"]

    def process_response(self, request, response):
        local.user = None
        return response


class UserAroundView:
    """Keep the user in a variable of the thread, with a block that always resets it."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        local.user = request.GET["who"]
        try:
            return self.get_response(request)
        finally:
            local.user = None


class SetRole(MiddlewareMixin):
    """Give the connection the role of a user until the response."""

    def process_request(self, request):
        if name := request.GET["who"]:
            with connection.cursor() as cursor:
                cursor.execute(f"SET ROLE role_{name}")

    def process_response(self, request, response):
        with connection.cursor() as cursor:
            cursor.execute("RESET ROLE")
        return response


class SetTenant(MiddlewareMixin):
    """Use the schema of a tenant until the response, like the middleware of django-tenants without its table."""

    def process_request(self, request):
        connection.set_schema(f"schema_{request.GET['who']}" if request.GET["who"] else "public")

    def process_response(self, request, response):
        connection.set_schema_to_public()
        return response
