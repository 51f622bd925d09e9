"""What a run says after each of its blocks."""

import dataclasses

from loadtests.records import Flag
from loadtests.report import so_far
from tests.fixtures.runs import BROKE


def test_one_block_has_a_best_figure_and_two_have_a_verdict(build_run):
    one = build_run(labels=("gunicorn", "daphne"), blocks=1, name="one")
    assert so_far.line(one, 1) == (
        "block 1 of 1: trials 4 valid; so far gunicorn has the best requests/s, 9,901 with 10 connections"
    )
    two = build_run(labels=("gunicorn", "daphne"), blocks=2, name="two")
    assert so_far.line(two, 2).startswith("block 2 of 2: trials 4 valid; so far gunicorn answers the most, ")


def test_what_is_not_valid_is_counted_by_what_it_is_worth(build_run):
    run = build_run(labels=("gunicorn", "daphne"), blocks=1, invalid=(("daphne", "latency", 1),))
    [first, second, *_] = run.trials()
    died = Flag("process_died", "invalid", "")
    for trial, flag in ((first, BROKE), (second, died)):
        run.save_trial(dataclasses.replace(trial, attempt=2, status="invalid", flags=(flag,)))
    assert so_far.line(run, 1).startswith("block 1 of 1: trials 2 valid, 1 unverified, 1 invalid; so far ")


def test_a_single_setup_leads_nobody(build_run):
    assert so_far.line(build_run(labels=("gunicorn",), blocks=1), 1) == "block 1 of 1: trials 2 valid"
