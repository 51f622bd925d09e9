"""Define the cases of neighbours.py with monitoring agents.

The agents send nothing. The recordings stay in the process, and contain no values that differ between equal runs, such
as times and identifiers.
"""

from __future__ import annotations

from typing import Any

from state import Case as StateCase

NO_ADDRESS = "http://key@127.0.0.1:9/1"


class Case(StateCase):
    conn_max_age = 0  # agents record opened connections as spans, and hopless would open fewer persistent connections


class Sentry(Case):
    """Record the transactions and errors of Sentry's SDK."""

    def __init__(self, version: str) -> None:
        self.requires = (f"sentry-sdk{version}",)
        self.events: list[dict[str, Any]] = []

    def start(self) -> None:
        import sentry_sdk
        from sentry_sdk.transport import Transport

        events = self.events

        class Recording(Transport):
            def capture_envelope(self, envelope: Any) -> None:
                events.extend(item.payload.json for item in envelope.items if item.type in ("event", "transaction"))

        transport = Recording()
        sentry_sdk.init(NO_ADDRESS, transport=transport, traces_sample_rate=1, send_default_pii=True)

    def mark(self, request: Any, user: Any) -> None:
        import sentry_sdk

        sentry_sdk.set_tag("number", request.GET["id"])
        with sentry_sdk.start_span(op="own"):
            pass

    def found(self) -> list[Any]:
        return [self._short(event) for event in self.events]

    @staticmethod
    def _short(event: dict[str, Any]) -> Any:
        request = event.get("request", {})
        return {
            "type": event.get("type", "error"),
            "name": event.get("transaction"),
            "query": request.get("query_string"),
            "user": event.get("user", {}).get("username"),
            "tags": event.get("tags"),
            "errors": [error["value"] for error in event.get("exception", {}).get("values", ())],
            "spans": sorted(f"{span.get('op')} {span.get('description')}" for span in event.get("spans", ())),
        }


class NewRelic(Case):
    """Record the transactions of New Relic's agent in its developer mode."""

    requires = ("newrelic==14.1.0",)

    def start(self) -> None:
        import newrelic.agent
        from newrelic.core.agent import Agent

        self.transactions: list[Any] = []
        Agent.record_transaction = lambda _, name, transaction: self.transactions.append(transaction)
        settings = newrelic.agent.global_settings()
        settings.developer_mode = True
        newrelic.agent.initialize()
        newrelic.agent.register_application(timeout=10)

    def mark(self, request: Any, user: Any) -> None:
        import newrelic.agent

        newrelic.agent.add_custom_attribute("number", request.GET["id"])
        newrelic.agent.set_user_id(str(user))

    def see(self) -> Any:
        import newrelic.agent

        return newrelic.agent.current_transaction() is not None

    def found(self) -> list[Any]:
        return [
            {
                "name": transaction.path,
                "own": sorted((attribute.name, attribute.value) for attribute in transaction.user_attributes),
                "user": [one.value for one in transaction.agent_attributes if one.name == "enduser.id"],
                "errors": [error.message for error in transaction.errors],
                "spans": sorted(self._spans(transaction.root)),
            }
            for transaction in self.transactions
        ]

    def _spans(self, node: Any) -> list[str]:
        name = str(getattr(node, "name", None) or type(node).__name__)
        # Stock Django sometimes attaches the root of another transaction that runs at the same time.
        own = [] if name.startswith("WebTransaction/") else [name]
        return [*own, *(span for child in node.children for span in self._spans(child))]


class Datadog(Case):
    """Record the spans of ddtrace."""

    requires = ("ddtrace==4.16.0",)

    def start(self) -> None:
        import os

        os.environ.update(DD_INSTRUMENTATION_TELEMETRY_ENABLED="false", DD_REMOTE_CONFIGURATION_ENABLED="false")
        import ddtrace
        from ddtrace.internal.writer import TraceWriter

        traces: list[Any] = []
        self.traces = traces

        class Recording(TraceWriter):
            def recreate(self, *_: Any, **__: Any) -> TraceWriter:
                return self

            def stop(self, timeout: float | None = None) -> None: ...

            def flush_queue(self) -> None: ...

            def write(self, spans: Any = None) -> None:
                traces.append(spans or [])

        ddtrace.tracer._span_aggregator.writer = Recording()
        ddtrace.patch(django=True, sqlite3=True)

    def mark(self, request: Any, user: Any) -> None:
        import ddtrace

        if root := ddtrace.tracer.current_root_span():
            root.set_tag("number", request.GET["id"])
            root.set_tag("own.user", str(user))

    def found(self) -> list[Any]:
        tags = ("number", "own.user", "http.status_code", "http.query.string", "error.message", "django.user.name")
        return [
            sorted(
                [
                    f"{span.name} {span.resource} {span.error} root={span.parent_id is None}",
                    *(f"{tag}={span.get_tag(tag)}" for tag in tags if span.get_tag(tag)),
                ]
                for span in spans
            )
            for spans in self.traces
        ]


class OpenTelemetry(Case):
    """Record the spans of OpenTelemetry's instrumentations for Django and SQLite."""

    requires = (
        "opentelemetry-sdk==1.45.1",
        *("opentelemetry-instrumentation-django[asgi]==0.66b1", "opentelemetry-instrumentation-sqlite3==0.66b1"),
    )

    def ready(self) -> None:
        from opentelemetry.instrumentation.django import DjangoInstrumentor
        from opentelemetry.instrumentation.sqlite3 import SQLite3Instrumentor
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        self.exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        DjangoInstrumentor().instrument(tracer_provider=provider)
        SQLite3Instrumentor().instrument(tracer_provider=provider)

    def mark(self, request: Any, user: Any) -> None:
        from opentelemetry import trace

        trace.get_current_span().set_attributes({"number": request.GET["id"], "user": str(user)})

    def found(self) -> list[Any]:
        traces: dict[int, list[Any]] = {}
        for span in self.exporter.get_finished_spans():
            tags = [f"{tag}={span.attributes.get(tag)}" for tag in ("number", "user", "http.status_code", "http.url")]
            line = [span.name, str(span.status.status_code), span.parent is None, *tags]
            traces.setdefault(span.context.trace_id, []).append(line)
        return [sorted(spans) for spans in traces.values()]


class Elastic(Case):
    """Record the transactions, spans and errors of Elastic's agent."""

    requires = ("elastic-apm==6.26.2",)
    apps = ("elasticapm.contrib.django",)
    settings = {  # noqa: RUF012
        "ELASTIC_APM": {
            "TRANSPORT_CLASS": "elastic_transport.Recording",
            "SERVICE_NAME": "scenario",
            "CENTRAL_CONFIG": False,
            "CLOUD_PROVIDER": False,
            "METRICS_INTERVAL": "0ms",
            "SPAN_COMPRESSION_ENABLED": False,
            "DISABLE_SEND": False,
        }
    }

    def wrap(self, application: Any) -> Any:
        from elasticapm.contrib.asgi import ASGITracingMiddleware

        return ASGITracingMiddleware(application)  # under ASGI, the receivers of request_started start no transactions

    def mark(self, request: Any, user: Any) -> None:
        import elasticapm

        elasticapm.label(number=request.GET["id"])

    def found(self) -> list[Any]:
        from elastic_transport import recorded

        # With stock Django, the transaction of a disconnected client ends twice with the same identifier.
        events = {(kind, data["id"]): data for kind, data in recorded if kind in ("transaction", "error", "span")}
        spans: dict[str, list[str]] = {}
        for (kind, _), data in events.items():
            if kind == "span":
                spans.setdefault(data.get("transaction_id"), []).append(data["name"])
        return [
            [
                *(kind, data.get("name"), data.get("result"), data.get("exception", {}).get("message")),
                data.get("context", {}).get("tags"),
                data.get("context", {}).get("user", {}).get("username"),
                data.get("context", {}).get("request", {}).get("url", {}).get("search"),
                sorted(spans.get(data["id"], ())) if kind == "transaction" else [],
            ]
            for (kind, _), data in events.items()
            if kind != "span"
        ]


class ElasticReceivers(Elastic):
    """Record Elastic's agent without its ASGI middleware, so that its signal receivers start the transactions."""

    def wrap(self, application: Any) -> Any:
        return application


class Scout(Case):
    """Record the requests that Scout's agent tracks. Scout's core agent isn't started."""

    requires = ("scout-apm==4.0.0",)
    apps = ("scout_apm.django",)
    settings = {  # noqa: RUF012
        "SCOUT_MONITOR": True,
        "SCOUT_NAME": "scenario",
        "SCOUT_KEY": "none",
        "SCOUT_CORE_AGENT_LAUNCH": False,
        "SCOUT_CORE_AGENT_DOWNLOAD": False,
        "SCOUT_ERRORS_ENABLED": False,
        "SCOUT_SHUTDOWN_TIMEOUT_SECONDS": 0,
    }

    def start(self) -> None:
        from scout_apm.core.agent.socket import CoreAgentSocketThread
        from scout_apm.core.tracked_request import TrackedRequest

        self.requests: list[Any] = []
        finish = TrackedRequest.finish

        def record(request: Any) -> None:
            if request.is_real_request:
                self.requests.append(request)
            finish(request)

        TrackedRequest.finish = record
        CoreAgentSocketThread.send = staticmethod(lambda *_: None)

    def mark(self, request: Any, user: Any) -> None:
        from scout_apm.api import Context

        Context.add("number", request.GET["id"])

    def found(self) -> list[Any]:
        tags = ("path", "number", "username", "error")
        return [
            [[request.tags.get(tag) for tag in tags], sorted(span.operation for span in request.complete_spans)]
            for request in self.requests
        ]


CASES = {
    "sentry-sdk-oldest": Sentry("==2.0.1"),
    "sentry-sdk-2.40": Sentry("==2.40.0"),
    "sentry-sdk": Sentry("==2.75.0"),
    "newrelic": NewRelic(),
    "ddtrace": Datadog(),
    "opentelemetry": OpenTelemetry(),
    "elastic-apm": Elastic(),
    "elastic-apm-receivers": ElasticReceivers(),
    "scout-apm": Scout(),
}
