"""Test the command of a deployed project: its setup, its address, and what the reader sees."""

import pytest

from loadtests import setups
from loadtests.errors import UserError
from loadtests.measure.study_options import StudyOptions
from loadtests.setups import deployed as deployments
from loadtests.setups.application import overlay
from loadtests.setups.variants import parse

HERE = "--host $BENCH_BIND --port $BENCH_PORT"
DOCKER = "FROM python\nWORKDIR /app\n"


@pytest.fixture
def deployed(tmp_path):
    """Return a function that writes a file, and returns its setup with the deployed command."""

    def write(name, text, setup):
        (tmp_path / name).write_text(text)
        _, found = setups.find([setup], [parse(str(tmp_path / name))])
        return found

    return write


@pytest.mark.parametrize(
    ("name", "text", "setup", "command"),
    [
        (
            "Procfile",
            "release: python manage.py migrate\nweb: ./check.sh && exec gunicorn -w ${N:-2} a.wsgi -b:$PORT -D 2>&1\n",
            "gunicorn",
            "./check.sh && exec gunicorn --config $DEPLOYED_GUNICORN -w ${N:-2} a.wsgi 2>&1",
        ),
        (
            "Procfile",
            "web: gunicorn -k uvicorn.workers.UvicornWorker a.asgi --user=www --bind 'unix:/run/a b.sock' --pid /p\n",
            "gunicorn-uvicorn",
            "gunicorn --config $DEPLOYED_GUNICORN -k uvicorn.workers.UvicornWorker a.asgi",
        ),
        (
            "Dockerfile",
            DOCKER + 'CMD ["uvicorn", "a.asgi:app", "--port=80", \\\n  "--workers", "3", "--log-config", "log.ini"]\n',
            "uvicorn",
            f"uvicorn {HERE} a.asgi:app --workers 3 --log-config log.ini",
        ),
        (
            "prod.Dockerfile",
            DOCKER
            + 'ENTRYPOINT ["/entrypoint.sh"]\nCMD ["sh", "-c", "uv run --no-sync daphne -b 0.0.0.0 -p $PORT a.b"]',
            "daphne",
            "daphne --bind $BENCH_BIND --port $BENCH_PORT a.b",
        ),
        (
            "Dockerfile",
            DOCKER + 'ENTRYPOINT ["/venv/bin/granian", "--interface", "wsgi"]\nCMD ["a.wsgi:app", "--host", "::"]\n',
            "granian-wsgi",
            f"granian {HERE} --interface wsgi a.wsgi:app",
        ),
        (
            "gunicorn.conf.py",
            "bind = ':80'\nthreads = 4\n",
            "gunicorn-gthread",
            "gunicorn --config $DEPLOYED_GUNICORN $WSGI_APP",
        ),
        (
            "uwsgi.ini",
            "[uwsgi]\nsocket = /run/a.sock\nprocesses = 4\n",
            "uwsgi",
            "uwsgi --die-on-term --http-keepalive=$BENCH_KEEP_ALIVE --http $BENCH_BIND:$BENCH_PORT "
            r"--ini exec://printenv\ DEPLOYED_CONFIG --module $WSGI_APP",
        ),
        (
            "Procfile",
            'web: echo "start gunicorn"; bash -c "gunicorn a.wsgi -w $(nproc || echo 2) -R -b :80" && echo "-b 1"\n',
            "gunicorn",
            'echo "start gunicorn"; '
            'bash -c "gunicorn --config $DEPLOYED_GUNICORN a.wsgi -w $(nproc || echo 2) -R " && echo "-b 1"',
        ),
    ],
)
def test_command_listens_on_run_address(deployed, name, text, setup, command):
    found = deployed(name, text, setup)
    assert " ".join(found.deployed.environment["DEPLOYED_COMMAND"].split()) == command
    assert (found.group, found.name) == ("deployed", f"{setup}-{name}")


def test_reader_sees_deployed_settings(deployed, tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "g.py").write_text("import os\nworkers = 3\n# threads = 9\nraw_env = ['KEY=x']\n")
    found = deployed("Procfile", "web: gunicorn -cconf/g.py --log-config l.ini a.wsgi", "gunicorn")
    assert found.label == "Gunicorn: gunicorn -cconf/g.py --log-config l.ini a.wsgi; workers = 3"
    assert found.deployed.environment["DEPLOYED_CONFIG"] == str(tmp_path / "conf" / "g.py")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("STRIPE_KEY=hunter2 gunicorn a.wsgi", "… gunicorn a.wsgi"),
        ("./manage.py set --password hunter2 && gunicorn a.wsgi | log hunter2", "… gunicorn a.wsgi"),
        (
            "gunicorn -e A=hunter2 -eA=hunter2 --env='B=hunter2 2' '--env=C=hunter2 2' a.wsgi",
            "gunicorn -e REPLACED -e REPLACED --env REPLACED --env REPLACED a.wsgi",
        ),
    ],
)
def test_reader_sees_no_secrets(deployed, command, text):
    found = deployed("Procfile", f"web: {command}", "gunicorn")
    assert found.deployed.text == text


@pytest.mark.parametrize(
    ("name", "text", "renews"),
    [
        ("Procfile", "web: gunicorn a.wsgi --max-requests 500", True),
        ("g.py", "max_requests = 1000\n", True),
        ("g.py", "workers = 2\n# max_requests = 1000\n", False),
        ("Procfile", "web: echo --max-requests && gunicorn a.wsgi --threads 2", False),
    ],
)
def test_renewed_workers_are_expected(tmp_path, name, text, renews):
    (tmp_path / name).write_text(text)
    assert deployments.read(tmp_path / name).renews == renews


def test_ini_keeps_all_but_address(deployed):
    text = "[uwsgi]\nhttp-socket = :80\nmodule = a.wsgi\nuid = www\nprocesses = 4\nhttp-keepalive = 5\n"
    given = deployed("uwsgi.ini", text, "uwsgi").deployed.environment["DEPLOYED_CONFIG"]
    assert " ".join(given.split()) == "[uwsgi] module = a.wsgi processes = 4 http-keepalive = 5"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (
            "Procfile",
            "web: KEY='hunter2 2' OTHER=hunter2 ./start.sh --password hunter2\n",
            "Procfile: the command must start gunicorn, .*, not './start.sh'. If a script",
        ),
        ("Dockerfile", DOCKER + "CMD 5\n", "must start gunicorn, .*, not '5'. If"),
        ("Procfile", "web: gunicorn -c away.py a.wsgi\n", "away.py cannot be read: No such file or directory"),
        ("Procfile", "web: gunicorn a.wsgi --threads 4\n", "gunicorn: the command is for the setup gunicorn-gthread"),
    ],
)
def test_unusable_command_is_refused(deployed, name, text, why):
    with pytest.raises(UserError, match=why):
        deployed(name, text, "gunicorn")


def test_run_adds_matching_setup(tmp_path):
    file = tmp_path / "Procfile"
    file.write_text("web: hypercorn a.asgi\n")
    study = StudyOptions("own-project", setups="gunicorn-gthread", variants=(str(file),)).study()
    pairs = [(entry.label, entry.against, entry.env) for entry in study.entries]
    assert pairs[1:] == [("hypercorn", "", {}), ("hypercorn-Procfile", "", {})]


def test_project_keeps_its_own_release(deployed, monkeypatch, tmp_path):
    """The installation is simulated, because it takes seconds."""
    installed = []
    monkeypatch.setattr(overlay, "is_own", lambda python: False)
    monkeypatch.setattr(overlay, "versions", lambda python: {"Gunicorn": "20.1"})
    monkeypatch.setattr(overlay, "_output", lambda command: "")
    monkeypatch.setattr(overlay, "_make", lambda folder, python: folder.mkdir())
    monkeypatch.setattr(overlay, "_install", lambda folder, pins, missing: installed.append(pins) or {})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = deployed("Procfile", "web: gunicorn a.wsgi", "gunicorn")
    for variants in ([parse(found.variant[0])], []):
        overlay.make(tmp_path / "python", [found], variants=variants)
    assert [[pin.partition("=")[0] for pin in pins] for pins in installed] == [[], ["gunicorn"]]
