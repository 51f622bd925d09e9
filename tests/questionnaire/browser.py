"""Provide the parts of a browser that the questionnaire needs."""

import re
from html.parser import HTMLParser

from django.test import Client


class Form(HTMLParser):
    """Parse a page with one form. Store the values of the fields, the labels and the page's marker."""

    def __init__(self, page):
        super().__init__()
        self.fields, self.labelled, self.ids, self.page = {}, set(), set(), ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.add(found.get("id"))
        if tag == "main":
            self.page = found["data-page"]
        elif tag == "label":
            self.labelled.add(found["for"])
        elif tag == "input" and found["type"] in ("radio", "checkbox"):
            self.fields.setdefault(found["name"], [])
            if "checked" in found:
                self.fields[found["name"]].append(found["value"])
        elif tag == "input":
            self.fields[found["name"]] = found["value"]


class Browser:
    """A browser on top of Django's test client, with cookies, redirects, and forms with CSRF tokens."""

    def __init__(self, base="/questionnaire/"):
        self.client = Client(enforce_csrf_checks=True, raise_request_exception=False)
        self.base = base
        self.response = None

    def get(self, path):
        """Request a path below the questionnaire, and follow redirects."""
        self.response = self.client.get(self.base + path, follow=True)
        return self

    def submit(self, **answers):
        """Fill in the form of the current page, and send it."""
        form = self.form
        path = self.response.request["PATH_INFO"]
        if query := self.response.request["QUERY_STRING"]:
            path += f"?{query}"
        self.response = self.client.post(path, {**form.fields, **answers}, follow=True)
        return self

    @property
    def form(self):
        return Form(self.text)

    @property
    def text(self):
        return self.response.content.decode()

    @property
    def page(self):
        """Return the marker of the current page."""
        return self.form.page

    @property
    def summary(self):
        """Return the answers on the summary page, by page."""
        return dict(re.findall(r'<dd data-answer="([^"]+)">([^<]*)</dd>', self.text))

    def launch(self, respondent="Somebody"):
        """Signs in."""
        return self.get(f"launch/?respondent={respondent}")

    def through(self, **answers):
        """Log in and answer these pages in this order."""
        self.launch().submit()
        for page, answer in answers.items():
            assert self.page == page
            self.submit(**{page: answer})
        return self


def unavailable(response):
    """Return whether an answer reports a failed session store."""
    return (response.status_code, response.headers.get("Retry-After")) == (503, "2")
