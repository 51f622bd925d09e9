"""Test that a protocol or a dialect can be added with a file in a folder of the load generator."""

import dataclasses
import shutil

import pytest

from loadtests.engines import get, node
from loadtests.errors import UserError
from loadtests.workload import Conversation, Load


@pytest.fixture
def generator(monkeypatch, tmp_path):
    """Use a copy of the load generator, to which tests can add files, and return its folder."""
    folder = tmp_path / "loadtests" / "generator"
    shutil.copytree(node.GENERATOR, folder)
    shutil.copy(node.ROOT / "package.json", tmp_path)
    (tmp_path / "node_modules").symlink_to(node.ROOT / "node_modules")
    monkeypatch.setattr(node, "GENERATOR", folder)
    return folder


@pytest.mark.servers
def test_file_adds_protocol_or_dialect(generator, server, conversing):
    (generator / "protocols" / "own.js").write_text("export { protocol } from './http.js';")
    (generator / "dialects" / "own.js").write_text("export { dialect } from './plain.js';")
    assert get("openloop").run(Load.of_url(f"{server.url}/ok", rate=20, duration_s=0.5, protocol="own")).ok == 10
    load = conversing().load("echo", rate=20, duration_s=0.5)
    own = dataclasses.replace(load.conversation, dialect="own")
    assert get("openloop").run(dataclasses.replace(load, conversation=own)).ok == 10


@pytest.mark.parametrize(
    ("unknown", "says"),
    [
        ({"protocol": "gopher"}, "protocol 'gopher'. Choices are: .*http, .*own"),
        ({"protocol": "htp"}, "protocol 'htp'. Did you mean http"),
        ({"conversation": Conversation("echo", "gopher")}, "dialect 'gopher'. Choices are: action-cable, json"),
        ({"conversation": Conversation("echo", "jsn")}, "dialect 'jsn'. Did you mean json"),
    ],
)
def test_unknown_protocol_is_refused_early(generator, monkeypatch, unknown, says):
    (generator / "protocols" / "own.js").touch()
    monkeypatch.setenv("PATH", "")  # so that node can't be started
    with pytest.raises(UserError, match=f"^unknown {says}"):
        get("openloop").run(Load.of_url("http://127.0.0.1:1/", **{"rate": 10, "protocol": "websocket", **unknown}))
