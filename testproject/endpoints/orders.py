"""Render a hundred rows with a template that inherits, loops, filters and escapes, without a database."""

import datetime
import decimal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

ROWS = 100

ORDERS = [
    {
        "number": number,
        "customer": f"Customer & Sons <{number % 17}>",
        "goods": "Goods of the kind that has a long description" if number % 3 else "Plain goods",
        "pieces": 1 + number % 5,
        "price": decimal.Decimal(number * 199) / 100,
        "day": datetime.date(2016, 7, 21) + datetime.timedelta(days=number),
        "sent": number % 4 != 0,
    }
    for number in range(1, ROWS + 1)
]


def page(request: HttpRequest) -> HttpResponse:
    return render(request, "endpoints/orders.html", {"orders": ORDERS})
