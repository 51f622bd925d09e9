"""Test a user's project on real servers: measurement, comparison, and one-line errors."""

import json

import pytest

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers]

STUDY = """
setups = ["gunicorn", "daphne-ipc"]
blocks = 1
[tests.latency]
rate = 20
duration = "500ms"
warmup = "100ms"
"""


@pytest.fixture
def study(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(STUDY)
    return file


def test_project_needs_only_its_path(cli, study, mysite, tmp_path):
    # The setup must not read the project's own configuration of Gunicorn.
    (mysite / "gunicorn.conf.py").write_text("raise SystemExit('this was read')")
    before = sorted(mysite.rglob("*"))
    folder = tmp_path / "run"
    _, printed, errors = cli.run("run", study, "--app", mysite, "--output", folder)
    assert "skipped: daphne-ipc: " in printed, errors
    about = json.loads((folder / "run.json").read_text())
    assert about["application"]["options"] == {"app": str(mysite)}
    assert about["contract"]["latency"] == [
        {"status": 200, "content_type": "text/html; charset=utf-8", "sha256": None},
    ]
    trials = [json.loads(file.read_text()) for file in (folder / "trials").glob("*.json")]
    assert {trial["setup"] for trial in trials} == {"gunicorn"}
    assert all(trial["result"]["ok"] == 10 for trial in trials)
    assert "own Python and Django" in (folder / "report.html").read_text()
    assert sorted(mysite.rglob("*")) == before
    cli.wait_until_nothing_runs()


@pytest.mark.parametrize(
    ("names", "said", "answers"),
    [
        (("gunicorn", "uvicorn"), "type(request).__name__", ("WSGIRequest", "ASGIRequest")),
        (("uvicorn", "--variant", "hopless"), "'hopless.handler' in __import__('sys').modules", ("False", "True")),
    ],
)
def test_differing_setups_are_found(command, mysite, names, said, answers):
    (mysite / "mysite" / "urls.py").write_text(
        "from django.http import HttpResponse\n"
        "from django.urls import path\n"
        f"urlpatterns = [path('', lambda request: HttpResponse({said}))]\n"
    )
    code, printed, errors = command("check", *names, "--app", mysite)
    assert code == 1
    for name, answer in zip([names[0], names[1] if len(names) == 2 else "uvicorn-hopless"], answers, strict=True):
        assert f"{name} answered 200 text/html; charset=utf-8 b'{answer}'" in printed
    assert "answered differently" in errors


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--path", "/nowhere/"), "test latency: GET /nowhere/: answered 404"),
        (("--host-header", "example.org"), "set an allowed host with --host-header NAME"),
        (("--setup-command", "python manage.py nothing"), "'python manage.py nothing' failed (exit status 1)"),
    ],
)
def test_unavailable_page_is_reported_early(refused, study, started, tmp_path, nothing_is_left, arguments, says):
    folder = tmp_path / "run"
    assert says in refused("run", study, "--app", started, "--output", folder, *arguments)
    assert not folder.exists()


def test_missing_database_is_reported_early(refused, monkeypatch, study, tmp_path):
    monkeypatch.setenv("DATABASE_URL", "postgresql://somebody@127.0.0.1:1/none")
    folder = tmp_path / "run"
    assert "cannot be used" in refused("run", study, "--output", folder)
    assert not folder.exists()


def test_hopless_leaves_the_project_unchanged(command, started, nothing_is_left):
    before = sorted(started.rglob("*"))
    pages = ("--path", "/", "--path", "/admin/login/", "--path", "/nowhere/")
    setups = ("gunicorn", "uvicorn", "daphne", "--variant", "hopless")
    code, printed, errors = command("check", *setups, "--app", started, *pages)
    assert code == 0, printed + errors
    assert "3 requests to each of 5 setups: 0 differences" in printed
    assert sorted(started.rglob("*")) == before


def test_deployed_command_runs_next_to_ours(cli, study, mysite, tmp_path):
    (mysite / "gunicorn.conf.py").write_text(
        "bind = '0.0.0.0:80'\nworkers = 2\nmax_requests = 6\ndaemon = True\npidfile = '/nowhere/pid'\nuser = 'nobody'\n"
        "def post_worker_init(worker):\n    open('worked', 'a').write('.')\n"
    )
    (mysite / "Procfile").write_text("web: python -c 'pass' && gunicorn mysite.wsgi --bind 0.0.0.0:${PORT:-80}\n")
    folder = tmp_path / "run"
    variant = ("--variant", mysite / "Procfile", "--ignore-busy")
    _, printed, errors = cli.run("run", study, "--app", mysite, *variant, "--output", folder)
    trials = [json.loads(file.read_text()) for file in (folder / "trials").glob("*.json")]
    assert {trial["label"] for trial in trials} == {"gunicorn", "gunicorn-Procfile"}, printed + errors
    assert all(trial["result"]["ok"] == 10 for trial in trials)
    assert len((mysite / "worked").read_text()) > 2  # workers were replaced, which isn't a defect
    assert not any(flag["reason"] == "process_died" for trial in trials for flag in trial["flags"])
    page = (folder / "report.html").read_text()
    assert "gunicorn mysite.wsgi --bind 0.0.0.0:${PORT:-80}; workers = 2; max_requests = 6" in page
    cli.wait_until_nothing_runs()
