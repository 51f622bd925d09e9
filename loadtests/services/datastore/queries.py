"""Structured queries on properties: kind, comparisons, order, offset, limit, keys only.

As in the service, only values of one type are compared with each other, and what is excluded from the indexes is
found by no query.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from loadtests.services.datastore.refusals import Refusal, Status

# PropertyFilter.Operator
COMPARISONS: dict[int, Callable[[Any, Any], bool]] = {
    1: operator.lt,
    2: operator.le,
    3: operator.gt,
    4: operator.ge,
    5: operator.eq,
    9: operator.ne,
}
AND, DESCENDING = 1, 2  # CompositeFilter.Operator, PropertyOrder.Direction
COMPARED = ("null_value", "boolean_value", "integer_value", "double_value", "timestamp_value", "string_value")
KEY = "__key__"


class Holder(Protocol):
    """Something that has an entity."""

    entity: Any


H = TypeVar("H", bound=Holder)


def run(query: Any, among: Sequence[H]) -> tuple[list[H], bool]:
    """Those of these that a Query finds, in its order, and whether its limit left some out. Raises Refusal."""
    if query.distinct_on or query.start_cursor or query.end_cursor:
        raise Refusal(Status.UNIMPLEMENTED, "distinct results and cursors are not implemented")
    if any(projection.property.name != KEY for projection in query.projection):
        raise Refusal(Status.UNIMPLEMENTED, "of projections, only that on the key is implemented")
    kinds = {kind.name for kind in query.kind}
    filters = _filters(query.filter) if query.HasField("filter") else []
    found = [
        one
        for one in among
        if (not kinds or one.entity.key.path[-1].kind in kinds)
        and all(_fits(one.entity, name, compare, operand) for name, compare, operand in filters)
        and all(_value(one.entity, order.property.name) is not None for order in query.order)
    ]
    for order in reversed(query.order):
        found.sort(key=_by(order.property.name), reverse=order.direction == DESCENDING)
    found = found[query.offset :]
    limit = query.limit.value if query.HasField("limit") else len(found)
    return found[:limit], len(found) > limit


def _filters(filter: Any) -> list[tuple[str, Callable[[Any, Any], bool], tuple[str, Any]]]:
    """The comparisons that must all hold."""
    kind = filter.WhichOneof("filter_type")
    if kind == "composite_filter":
        if filter.composite_filter.op != AND:
            raise Refusal(Status.UNIMPLEMENTED, "of composite filters, only AND is implemented")
        return [one for part in filter.composite_filter.filters for one in _filters(part)]
    if kind is None:
        return []
    comparison = filter.property_filter
    operand = _typed(comparison.value)
    if comparison.op not in COMPARISONS or operand is None or comparison.property.name == KEY:
        raise Refusal(
            Status.UNIMPLEMENTED, f"the filter on {comparison.property.name} is of a kind that is not implemented"
        )
    return [(comparison.property.name, COMPARISONS[comparison.op], operand)]


def _fits(entity: Any, name: str, compare: Callable[[Any, Any], bool], operand: tuple[str, Any]) -> bool:
    value = _value(entity, name)
    return value is not None and value[0] == operand[0] and compare(value[1], operand[1])


def _value(entity: Any, name: str) -> tuple[str, Any] | None:
    """A property's type and value, as its index has it; None where no index has it."""
    if name not in entity.properties or entity.properties[name].exclude_from_indexes:
        return None
    return _typed(entity.properties[name])


def _typed(value: Any) -> tuple[str, Any] | None:
    kind = value.WhichOneof("value_type")
    if kind not in COMPARED:
        return None
    found = getattr(value, kind)
    return kind, (found.seconds, found.nanos) if kind == "timestamp_value" else found


def _by(name: str) -> Callable[[Holder], tuple[int, Any]]:
    """A property's place in an order: types first, then values."""

    def place(one: Holder) -> tuple[int, Any]:
        kind, value = _value(one.entity, name) or (COMPARED[0], 0)
        return COMPARED.index(kind), value

    return place
