"""Test that a report names the load at which CPU times were measured."""

from loadtests.analyse.results import Results
from loadtests.report.sections import cost
from tests.fixtures.costs import with_costs
from tests.fixtures.pages import page_of

COSTS = {"gunicorn-gthread": 0.5, "uvicorn": 2.0}


def answer_of(build_run, tests, busy=0.97):
    run = build_run(labels=tuple(COSTS), tests=tests, blocks=6)
    return page_of(with_costs(run, COSTS, busy=busy)).answer


def cpu_column(answer):
    [place] = [place for place, heading in enumerate(answer.table.columns) if heading.startswith("CPU")]
    return answer.table.columns[place], {row[0].text: row[place] for row in answer.table.rows}


def test_full_load_precedes_fixed_rate(build_run):
    heading, fields = cpu_column(answer_of(build_run, ("latency", "throughput")))
    assert heading == "CPU at full load, ms"
    assert fields["gunicorn-gthread"].detail == "×1"
    assert fields["uvicorn"].detail.startswith("×4")


def test_fixed_rate_is_in_the_heading(build_run):
    answer = answer_of(build_run, ("latency",))
    assert cpu_column(answer)[0] == "CPU at 300/s, ms"
    assert "CPU" not in answer.legend(range(len(answer.conditions)))


def test_idle_core_marks_cpu_time(build_run):
    answer = answer_of(build_run, ("throughput",), busy=0.7)
    heading, fields = cpu_column(answer)
    assert heading == "CPU in a closed loop, ms"
    assert all(field.detail.endswith("*") for field in fields.values())
    assert any(text.startswith("*: the servers' cores weren't full") for text in answer.all_notes)


def test_cost_table_names_idle_cores(build_run):
    run = build_run(labels=tuple(COSTS), tests=("latency", "throughput"), blocks=2)
    section = cost.section(Results(with_costs(run, COSTS, busy=0.7)))
    latency, loop = section.tables
    assert (latency.columns[1], loop.columns[1]) == ("CPU at 300/s, ms", "CPU in a closed loop, ms")
    assert "a figure at a fixed rate doesn't give a capacity" in section.paragraphs[0]
