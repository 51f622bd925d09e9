"""What BBC's origin simulator answers to a recipe, this origin does; docs/slow-origin.rst has the rest."""


def stage(**values):
    return {"body": "fine", "stages": [{"at": 0, **values}]}


def test_headers_are_sent_and_the_type_is_guessed_as_in_bbc_s_where_none_is_said(play):
    recipes = [
        stage(),
        {"route": "/json", **stage(), "body": '{"a": 1}'},
        {"route": "/error", **stage(status=503)},
        {"route": "/typed", "headers": {"Content-Type": "text/plain", "X-A": "b"}, **stage()},
    ]

    async def talk(origin):
        return [(await origin.ask(path))[1] for path in ("/", "/json", "/error", "/typed")]

    page, as_json, error, typed = play(recipes, talk)
    assert page == {"content-type": "text/html; charset=utf-8", "content-length": "4"}
    assert as_json["content-type"] == "application/json; charset=utf-8"
    assert error["content-type"] == "text/plain; charset=utf-8"
    assert typed == {"content-type": "text/plain", "content-length": "4", "x-a": "b"}


def test_a_recipe_as_bbc_s_documentation_has_it(play):
    """But for the route of everything, which its examples leave out."""
    headers = {"connection": "keepalive", "cache-control": "private, max-age=0, no-cache"}
    recipe = {"route": "*", "headers": headers, "stages": [{"at": 0, "latency": "1ms", "status": 200}], "body": "fine"}

    async def talk(origin):
        async with origin.client() as client:
            return [await client.ask(path) for path in ("/", "/news")]

    for status, sent, body in play(recipe, talk):
        assert (status, body) == (200, b"fine")
        assert sent["cache-control"] == "private, max-age=0, no-cache"
        assert "connection" not in sent
