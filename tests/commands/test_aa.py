"""``aa``: what it prints of a setup that met itself."""

from loadtests.commands.aa import print_aa


def test_the_noise_of_a_trial_and_false_verdicts_are_told(build_run, capsys):
    assert print_aa(build_run(labels=("gunicorn",), aa=True, blocks=4))
    printed = " ".join(capsys.readouterr().out.split())
    assert "verdict" in printed
    assert "latency p99 ×" in printed
    assert "False verdicts: 0 of " in printed
