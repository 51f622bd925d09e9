"""What a file names is read below its own folder, and nowhere else: it may be somebody else's."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loadtests.errors import UserError
from loadtests.plan import study as studies

SECRET = "root:$6$a-secret"
STUDY = 'setups = ["gunicorn"]\nblocks = 1\n'
LATENCY = '[tests.latency]\nrate = 10\nduration = "1s"\n'
WORKLOAD = '[[requests]]\nmethod = "POST"\npath = "/echo"\n'
# Each key that names a file: the study, and with what the file is called, so that it is read as one.
KEYS = {
    "body_file": (LATENCY + 'method = "POST"\npath = "/echo"\nbody_file = {name}', "secret.txt"),
    "requests[1].body_file": (
        LATENCY + 'requests = [{{method = "POST", path = "/echo", body_file = {name}}}]',
        "secret",
    ),
    "workload": (LATENCY + "workload = {name}", "secret.toml"),
    "recipe": (LATENCY + 'services = ["origin"]\nrecipe = {name}', "secret.json"),
    "journey": ('[tests.journey]\nusers = 1\nduration = "10s"\njourney = {name}', "secret.py"),
}
WAYS = ("the whole path", "out and in", "a link", "a folder that is a link", "a link to itself")


@pytest.fixture
def places(tmp_path):
    """The folder of somebody else's study, and next to it one with a file that is none of theirs."""
    inside, outside = tmp_path / "study", tmp_path / "home"
    inside.mkdir()
    outside.mkdir()
    (inside / "folder").symlink_to(outside)
    return inside, outside


@pytest.fixture
def name_of(places):
    """A function: how a study names a file of that name elsewhere, in one of the ways out."""
    inside, outside = places

    def named(way, file):
        (outside / file).write_text(SECRET)
        (inside / f"link-{file}").symlink_to(f"link-{file}" if way == "a link to itself" else outside / file)
        return {
            "the whole path": str(outside / file),
            "out and in": f"../home/{file}",
            "a link": f"link-{file}",
            "a folder that is a link": f"folder/{file}",
            "a link to itself": f"link-{file}",
        }[way]

    return named


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("key", KEYS)
def test_a_study_reads_nothing_elsewhere(command, places, name_of, key, way):
    text, file = KEYS[key]
    study = places[0] / "study.toml"
    study.write_text(STUDY + text.format(name=json.dumps(name_of(way, file))))
    refused(command("run", study, "--dry-run"), f"{key}: ", way)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("named", ["load", "check", "run", "study"])
def test_nor_does_a_workload(command, places, name_of, named, way):
    workload = places[0] / "workload.toml"
    workload.write_text(WORKLOAD + f"body_file = {json.dumps(name_of(way, 'secret'))}")
    (places[0] / "study.toml").write_text(STUDY + LATENCY + 'workload = "workload.toml"')
    arguments = {
        "load": ("load", "http://127.0.0.1:1", "--workload", workload),
        "check": ("check", "gunicorn", "--workload", workload),
        "run": ("run", "first-look", "--dry-run", "--workload", workload),
        "study": ("run", places[0] / "study.toml", "--dry-run"),
    }[named]
    refused(command(*arguments), "requests[1].body_file: ", way)


def refused(ended, key, way):
    code, printed, errors = ended
    assert code == 1
    assert errors.count("\n") == 1
    assert f"{key}" in errors
    why = "Too many levels of symbolic links" if way == "a link to itself" else "it is not below the folder of the file"
    assert f"cannot be read: {why}" in errors
    assert SECRET not in printed + errors


def test_nor_does_a_setup_play_a_recipe_from_elsewhere(refused, places, name_of):
    study = places[0] / "study.toml"
    recipe = json.dumps(name_of("the whole path", "secret.json"))
    study.write_text(f'[[setups]]\nsetup = "gunicorn"\nenv = {{ ORIGIN_RECIPE = {recipe} }}\n{LATENCY}')
    assert "setups[1].env.ORIGIN_RECIPE: the name of a recipe that ships is needed" in refused(
        "run", study, "--dry-run"
    )


# What a path may be made of: folders and files inside, links in all directions, the way up, and what is nothing.
PARTS = ["body", "below", "..", ".", "", "up", "out", "back", "loop", "none", "home", "study", "a\0b", "~", "a" * 300]


@pytest.fixture
def maze(places):
    """The two folders with files and links in them; what is inside says so."""
    inside, outside = places
    for folder in (inside, inside / "below", outside):
        folder.mkdir(exist_ok=True)
        (folder / "body").write_text("inside" if folder != outside else SECRET)
        (folder / "up").symlink_to("..")
        (folder / "loop").symlink_to("loop")
        (folder / "out").symlink_to(outside)
        (folder / "back").symlink_to(inside)
    return inside


@settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(parts=st.lists(st.sampled_from(PARTS), max_size=6), whole=st.sampled_from(["", "/", "{inside}/", "//"]))
def test_whatever_the_path_is_made_of_what_is_sent_was_inside(maze, parts, whole):
    name = whole.format(inside=maze) + "/".join(parts)
    refused = ""
    try:
        study = studies.load(str(studied(maze, f'requests = [{{ body_file = {json.dumps(name)}, method = "POST" }}]')))
    except UserError as error:
        refused = str(error)
    if refused:
        assert "requests[1].body_file: " in refused
        assert refused.isprintable()  # nor is there a line break
        assert SECRET not in refused
    else:
        assert [request.body for request in study.tests[0].requests] == [b"inside"]
        assert not whole


def test_whatever_is_inside_is_found(maze):
    """Else the test before would be passed by who refuses everything."""
    for name in ("body", "below/body", "below/../body", "below/up/body", "back/below/body", "./below//body"):
        [test] = studies.load(str(studied(maze, f'method = "POST"\nbody_file = "{name}"'))).tests
        assert test.requests[0].body == b"inside"


def studied(folder, lines):
    file = folder / "study.toml"
    file.write_text(STUDY + LATENCY + lines)
    return file


def test_a_folder_that_is_a_link_itself_has_its_files(command, places, tmp_path):
    """What the command line names may be anywhere; what is below its folder is the study's, through links as well."""
    inside, _ = places
    (inside / "below").mkdir()
    (inside / "below" / "body").write_text("a")
    (inside / "body").symlink_to("below/body")
    (inside / "study.toml").write_text(STUDY + LATENCY + 'method = "POST"\npath = "/echo"\nbody_file = "body"')
    (tmp_path / "elsewhere").symlink_to(inside)
    code, _, errors = command("run", tmp_path / "elsewhere" / "study.toml", "--dry-run")
    assert code == 0, errors
