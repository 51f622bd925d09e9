"""Change the results and trials that ``build_run`` writes."""

import dataclasses


def replaced(of_label=None, of_test=None, /, **values):
    """Return a change for ``build_run`` that replaces these fields in a setup's results, in a test or in all tests.

    A value may be a function of the result.
    """

    def change(label, test, block, result):
        if of_label not in (None, label) or of_test not in (None, test):
            return result
        found = {name: value(result) if callable(value) else value for name, value in values.items()}
        return dataclasses.replace(result, **found)

    return change


def resaved(run, fields):
    """Save each trial again with the fields from ``fields(trial)``, and return the run."""
    for trial in run.trials():
        run.save_trial(dataclasses.replace(trial, **fields(trial)))
    return run
