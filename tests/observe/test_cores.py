import pytest

from loadtests.errors import UserError
from loadtests.observe import cores


@pytest.fixture
def allowed(monkeypatch):
    def allow(*numbers):
        monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(numbers))

    return allow


@pytest.mark.parametrize(
    ("numbers", "wanted", "servers", "generator"),
    [
        ((0, 1), None, (0,), (1,)),
        ((0, 1, 2, 3), "2-3", (2, 3), (1,)),
        ((0,), None, (0,), (0,)),
        ((0, 1), "0-1", (0, 1), (1,)),
    ],
)
def test_generator_gets_own_core_if_possible(allowed, numbers, wanted, servers, generator):
    allowed(*numbers)
    found = cores.allot(wanted)
    assert (found.servers, found.generator) == (servers, generator)
    assert found.shared == (generator[0] in servers)


@pytest.mark.parametrize("wanted", ["4", "a", "0-9", "2-1"])
def test_unavailable_cores_are_refused(allowed, wanted):
    allowed(0, 1, 2, 3)
    with pytest.raises(UserError, match=f"CORES={wanted}: "):
        cores.allot(wanted)


def test_separate_servers_use_all_cores(allowed):
    allowed(0, 1, 2, 3)
    assert (cores.all_of(None), cores.all_of("1-2")) == ((0, 1, 2, 3), (1, 2))
    assert not cores.Cores((0, 1), (1,), machines=2).shared


@pytest.mark.parametrize(
    ("wanted", "services", "knobs"),
    [
        ("", (0, 1, 2), {"CORES": "0,1,2"}),
        ("generator", (3,), {"CORES": "0,1,2", "SERVICES_CORES": "3"}),
        ("1-2", (1, 2), {"CORES": "0,1,2", "SERVICES_CORES": "1,2"}),
    ],
)
def test_services_share_server_cores_by_default(allowed, monkeypatch, wanted, services, knobs):
    allowed(0, 1, 2, 3)
    monkeypatch.delenv("SERVICES_CORES", raising=False)
    found = cores.allot()
    assert (found.services({"SERVICES_CORES": wanted}), found.knobs({"SERVICES_CORES": wanted})) == (services, knobs)
    monkeypatch.setenv("SERVICES_CORES", wanted)
    assert found.knobs({}) == knobs


def test_services_are_separate_without_shared_cores():
    found = cores.Cores((0, 1), (2,))
    assert cores.apart(found.knobs({"SERVICES_CORES": "generator"}))
    assert not cores.apart({"CORES": "0,1", "SERVICES_CORES": "1,2"})
    assert not cores.apart({"CORES": "0,1"})


def test_unavailable_service_cores_are_refused(allowed):
    allowed(0, 1)
    with pytest.raises(UserError, match="SERVICES_CORES=7: the allowed cores are 0,1"):
        cores.allot().services({"SERVICES_CORES": "7"})
    with pytest.raises(UserError, match="SERVICES_CORES=generator: the load generator is on another machine"):
        cores.Cores((0, 1), (1,), machines=2).services({"SERVICES_CORES": "generator"})
    assert cores.Cores((0, 1), (1,), machines=2).services({"SERVICES_CORES": "7"}) == (7,)
