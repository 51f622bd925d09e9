"""Test that a study or workload file can only name files in its own folder."""

import json

import pytest

SECRET = "root:$6$a-secret"
STUDY = 'setups = ["gunicorn"]\nblocks = 1\n'
LATENCY = '[tests.latency]\nrate = 10\nduration = "1s"\n'
SENT = 'method = "POST"\npath = "/echo"\n'
# Each key whose value is a file name, with the part of a study that contains the key, and the suffix of the file.
KEYS = {
    "body_file": (LATENCY + SENT + "body_file = {name}", ".txt"),
    "requests[1].body_file": (LATENCY + "requests = [{{method = 'POST', path = '/', body_file = {name}}}]", ""),
    "workload": (LATENCY + "workload = {name}", ".toml"),
    "recipe": (LATENCY + 'services = ["origin"]\nrecipe = {name}', ".json"),
    "journey": ('[tests.journey]\nusers = 1\nduration = "10s"\njourney = {name}', ".py"),
}
# Paths that aren't relative, or that lead out of the folder.
WAYS = {
    "the whole path": "{outside}/secret",
    "its own whole path": "{inside}/own",
    "out and in": "../home/secret",
    "a link": "link",
    "a folder that is a link": "folder/secret",
    "a link to itself": "itself",
}


@pytest.fixture
def places(tmp_path):
    """Return the folder of an untrusted study, and a folder with private files. The study's folder contains links."""
    inside, outside = tmp_path / "study", tmp_path / "home"
    inside.mkdir()
    outside.mkdir()
    (inside / "folder").symlink_to(outside)
    for ending in ("", ".txt", ".toml", ".json", ".py"):
        (inside / f"own{ending}").write_text(SECRET)
        (outside / f"secret{ending}").write_text(SECRET)
        (inside / f"link{ending}").symlink_to(outside / f"secret{ending}")
        (inside / f"itself{ending}").symlink_to(f"itself{ending}")
    return inside, outside


def written(places, file, text, way, ending=""):
    """Write a file that contains a path in the form of one of WAYS, and return the file's own path."""
    inside, outside = places
    (inside / file).write_text(text.format(name=json.dumps(WAYS[way].format(inside=inside, outside=outside) + ending)))
    return inside / file


def assert_names(errors, key, way):
    why = "Too many levels of symbolic links" if way == "a link to itself" else "it is outside the folder of the file"
    assert f"{key}: " in errors
    assert f"cannot be read: {why}" in errors
    assert SECRET not in errors


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("key", KEYS)
def test_study_only_reads_its_folder(refused, places, key, way):
    text, ending = KEYS[key]
    assert_names(refused("run", written(places, "study.toml", STUDY + text, way, ending), "--dry-run"), key, way)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "arguments",
    [
        ("load", "http://127.0.0.1:1", "--workload"),
        ("check", "gunicorn", "--workload"),
        ("run", "first-look", "--dry-run", "--workload"),
        ("run", "--dry-run"),
    ],
)
def test_workload_only_reads_its_folder(refused, places, arguments, way):
    workload = written(places, "workload.toml", f"[[requests]]\n{SENT}body_file = {{name}}", way)
    study = written(places, "study.toml", STUDY + LATENCY + 'workload = "workload.toml"', way)
    assert_names(refused(*arguments, workload if "--workload" in arguments else study), "requests[1].body_file", way)


def test_setup_refuses_recipe_path(refused, places):
    entry = '[[setups]]\nsetup = "gunicorn"\nenv.ORIGIN_RECIPE = {name}\n'
    study = written(places, "study.toml", entry + LATENCY, "the whole path", ".json")
    says = "setups[1].env.ORIGIN_RECIPE: must name an included recipe"
    assert says in refused("run", study, "--dry-run")
