"""Test that a new protocol of the generator needs only a file in a folder."""

import dataclasses
import shutil

import pytest

from loadtests.engines import get, node
from loadtests.errors import UserError
from loadtests.workload import Conversation, Load


@pytest.fixture
def generator(monkeypatch, tmp_path):
    """Run a copy of the generator's folder instead of the folder."""
    folder = tmp_path / "loadtests" / "generator"
    shutil.copytree(node.GENERATOR, folder)
    shutil.copy(node.ROOT / "package.json", tmp_path)
    (tmp_path / "node_modules").symlink_to(node.ROOT / "node_modules")
    monkeypatch.setattr(node, "GENERATOR", folder)
    return folder


@pytest.mark.servers
def test_protocol_or_dialect_is_a_file(generator, server, conversing):
    (generator / "protocols" / "own.js").write_text("export { protocol } from './http.js';")
    (generator / "dialects" / "own.js").write_text("export { dialect } from './plain.js';")
    assert get("openloop").run(Load.of_url(f"{server.url}/ok", rate=20, duration_s=0.5, protocol="own")).ok == 10
    load = conversing().load("echo", rate=20, duration_s=0.5)
    own = dataclasses.replace(load.conversation, dialect="own")
    assert get("openloop").run(dataclasses.replace(load, conversation=own)).ok == 10


@pytest.mark.parametrize(
    ("unknown", "says"),
    [
        ({"protocol": "gopher"}, "protocol 'gopher'. There are: .*http, .*own"),
        ({"protocol": "htp"}, "protocol 'htp'. Did you mean http"),
        ({"conversation": Conversation("echo", "gopher")}, "dialect 'gopher'. There are: action-cable, json"),
        ({"conversation": Conversation("echo", "jsn")}, "dialect 'jsn'. Did you mean json"),
    ],
)
def test_unknown_protocol_is_refused_early(generator, monkeypatch, unknown, says):
    (generator / "protocols" / "own.js").touch()
    monkeypatch.setenv("PATH", "")  # node can't be started
    with pytest.raises(UserError, match=f"^unknown {says}"):
        get("openloop").run(Load.of_url("http://127.0.0.1:1/", **{"rate": 10, "protocol": "websocket", **unknown}))
