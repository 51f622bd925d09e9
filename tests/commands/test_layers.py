"""``layers``: its table."""

from loadtests.commands.layers import print_layers
from loadtests.measure.layers.rounds import IPC, REDIS, SOCKET, LayerResult, LayerRound, LayersReport


def layer(name, p50, rate):
    return LayerResult(name, (LayerRound(p50, p50 * 2, rate, 1e6 / rate, 100, 99),))


def test_the_table_shows_all_layers_and_what_was_delivered(capsys):
    layers = (layer(SOCKET, 10, 90_000), layer(IPC, 100, 9_000), layer(REDIS, 500, 900))
    print_layers(LayersReport(layers, cores=(0, 1), duration_s=2.0, in_flight=64, body_bytes=1000))
    printed = " ".join(capsys.readouterr().out.split())
    for piece in (
        "unix-socket",
        "channels_ipc",
        "channels_redis",
        "99 of 100",
        "10.0 times",
        "0.200 of",
        "cores 0, 1",
        "0.100 of the CPU time",
    ):
        assert piece in printed
    assert "Medians of 1 round of 2 s" in printed
