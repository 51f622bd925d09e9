"""Test the summary that a run prints after each block."""

import dataclasses

from loadtests.records import Flag
from loadtests.report import so_far
from tests.fixtures.runs import BROKE

LABELS = ("gunicorn", "daphne")


def test_second_block_adds_a_verdict(build_run):
    assert so_far.line(build_run(labels=LABELS, blocks=1, name="one"), 1) == (
        "block 1 of 1, trials: 4 valid; so far gunicorn has the best requests/s, 9,901 with 10 connections"
    )
    two = so_far.line(build_run(labels=LABELS, name="two"), 2)
    assert two.startswith("block 2 of 2, trials: 4 valid; so far gunicorn answers the most, ")
    alone = build_run(labels=("gunicorn",), blocks=1, name="alone")
    assert so_far.line(alone, 1) == "block 1 of 1, trials: 2 valid"


def test_unranked_block_has_no_leader(build_run):
    run = build_run(labels=LABELS, lost=(("gunicorn", "throughput", 1), ("daphne", "throughput", 2)))
    assert so_far.line(run, 2) == "block 2 of 2, trials: 3 valid, 1 unverified"


def test_unusable_trials_are_counted(build_run):
    run = build_run(labels=LABELS, blocks=1, invalid=(("daphne", "latency", 1),))
    for trial, flag in zip(run.trials(), (BROKE, Flag("process_died", "invalid", "")), strict=False):
        run.save_trial(dataclasses.replace(trial, attempt=2, status="invalid", flags=(flag,)))
    assert so_far.line(run, 1).startswith("block 1 of 1, trials: 2 valid, 1 unverified, 1 invalid; so far ")
