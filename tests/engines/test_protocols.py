"""To teach the generator a protocol is to add a file to its folder."""

import dataclasses
import shutil

import pytest

from loadtests.engines import get, node
from loadtests.errors import UserError
from loadtests.workload import Load

# Every other send is answered with what was asked for, the rest with something else. Nothing goes over a network.
ECHO = """
import { nowMs } from '../clock.js';
import { Exchange } from '../recorder.js';

let sends = 0;

class EchoConnection {
  busy = false;

  constructor(owner) {
    this.owner = owner;
  }

  send(exchange, intended) {
    const now = nowMs();
    Object.assign(this, { busy: true, exchange, intended, handedAt: now, sentAt: now });
    this.owner.onSent(this, now);
    setImmediate(() => this.answered());
  }

  answered() {
    this.busy = false;
    if (sends++ % 2 === 0) {
      this.owner.onOk(this, nowMs());
    } else {
      const text = `asked for ${this.exchange.path}`;
      this.owner.onFailed(this, nowMs(), { kind: 'wrong-body', answered: true, text });
    }
  }

  destroy() {
    this.busy = false;
  }
}

export const protocol = {
  exchange: ({ path }) => Object.assign(new Exchange(), { path }),
  connect: (job, owner) => new EchoConnection(owner),
  answering: async () => ({ origin: 'echo:', request: { path: '/warm-up' }, close() {} }),
};
"""

# Each process has two receivers, which were to get two messages. One of the four does not arrive.
RECEIVERS = """
import { Deliveries } from '../deliveries.js';
import { protocol as http } from './http.js';

async function openPool() {
  const deliveries = new Deliveries();
  for (const receiver of [1, 2]) {
    deliveries.expect(receiver, 'sender', 0, 1000);
    deliveries.expect(receiver, 'sender', 1, 1000);
    deliveries.arrived(receiver, 'sender', 0, 1020);
  }
  deliveries.arrived(1, 'sender', 1, 1040);
  return { deliveries, close() {} };
}

export const protocol = { ...http, openPool };
"""


@pytest.fixture
def generator(monkeypatch, tmp_path):
    """A copy of the generator's folder, which is run instead of it."""
    folder = tmp_path / "loadtests" / "generator"
    shutil.copytree(node.GENERATOR, folder)
    shutil.copy(node.ROOT / "package.json", tmp_path)
    (tmp_path / "node_modules").symlink_to(node.ROOT / "node_modules")
    monkeypatch.setattr(node, "GENERATOR", folder)
    return folder


@pytest.mark.servers
@pytest.mark.parametrize("rate", [100, None])
def test_a_protocol_is_a_file(generator, rate):
    (generator / "protocols" / "echo.js").write_text(ECHO)
    load = Load.of_url("http://127.0.0.1:1/asked", rate=rate, connections=1, duration_s=0.5, protocol="echo")
    result = get("openloop").run(load)
    assert result.planned == result.sent == result.completed > 0
    assert abs(result.ok - result.errors["wrong-body"]) <= 1
    assert result.ok + result.errors["wrong-body"] == result.planned
    assert result.examples == {"wrong-body": "asked for /asked"}
    assert result.response_time_ms["max"] >= result.service_time_ms["p50"] > 0


@pytest.mark.servers
def test_what_receivers_get_is_measured_in_every_process(generator, server):
    (generator / "protocols" / "receivers.js").write_text(RECEIVERS)
    load = Load.of_url(f"{server.url}/ok", rate=50, duration_s=0.2, timeout_s=0.5, processes=2, protocol="receivers")
    result = get("openloop").run(load)
    assert dataclasses.astuple(result.deliveries)[:5] == (8, 6, 2, 0, 0)
    assert result.deliveries.lag_ms["max"] == 40
    assert result.deliveries.lag_ms["p50"] == pytest.approx(20, rel=0.001)
    assert result.ok == 10


@pytest.mark.servers
def test_http_has_no_receivers(server):
    assert get("openloop").run(Load.of_url(f"{server.url}/ok", rate=50, duration_s=0.2)).deliveries is None


@pytest.mark.servers
def test_a_dialect_is_a_file(generator, conversing):
    (generator / "dialects" / "own.js").write_text("export { dialect } from './plain.js';")
    load = conversing().load("echo", rate=20, duration_s=0.5)
    own = dataclasses.replace(load.conversation, dialect="own")
    assert get("openloop").run(dataclasses.replace(load, conversation=own)).ok == 10


def test_an_unknown_protocol_is_refused_before_anything_is_started(generator, monkeypatch):
    (generator / "protocols" / "echo.js").write_text(ECHO)
    monkeypatch.setenv("PATH", "")  # no node to start
    for name, says in (("gopher", "; there are: echo, .*http"), ("htp", "; did you mean http")):
        with pytest.raises(UserError, match=f"^unknown protocol '{name}'{says}"):
            get("openloop").run(Load.of_url("http://127.0.0.1:1/", protocol=name))
