"""What is published: the archives hold what they should, one version stands everywhere, workflows call real tasks."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import sensegraph
from distribution import Archive, build_archives, find_faults

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Archive, Archive]:
    return build_archives(tmp_path_factory.mktemp("dist"))


@pytest.mark.slow
def test_wheel_and_sdist_hold_what_they_should_and_nothing_else(archives: tuple[Archive, Archive]):
    assert min(len(a.names) for a in archives) > 500
    assert list(find_faults(*archives)) == []


@pytest.mark.slow
def test_a_fault_of_an_archive_is_found(archives: tuple[Archive, Archive]):
    wheel, sdist = archives
    kept = tuple(n for n in wheel.names if n != "sensegraph/py.typed")
    bad = Archive(wheel.path, 6_000_000, (*kept, "tests/secret.key"))
    name = wheel.path.name
    assert list(find_faults(bad, sdist)) == [
        f"{name} has 6.0 MB, more than 5",
        f"{name} lacks sensegraph/py.typed",
        f"{name} holds tests/secret.key",
        f"{name} installs tests",
    ]


def test_one_version_stands_everywhere():
    version = PROJECT["version"]
    assert sensegraph.__version__ == version
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["version"], cited["license"], cited["title"]) == (version, PROJECT["license"], PROJECT["name"])
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\S+) \(", log, re.MULTILINE)
    assert released[0] == version


def test_workflows_call_tasks_that_there_are_on_the_pythons_that_are_promised():
    texts = [path.read_text(encoding="utf-8") for path in WORKFLOWS]
    tasks = set(re.findall(r"\bmake ([a-z-]+)", "\n".join(texts)))
    there = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"test", "quick", "integrations", "release", "site"} <= tasks <= set(there)
    matrix = yaml.safe_load(texts[0])["jobs"]["test"]["strategy"]["matrix"]
    promised = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert matrix["python"] == promised
    assert len(matrix["system"]) == 3


@pytest.mark.parametrize("name", ["bug", "wrong-answer"])
def test_an_issue_brings_what_doctor_says(name: str):
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml").read_text(encoding="utf-8"))
    asked = [field["attributes"] for field in form["body"] if field.get("validations", {}).get("required")]
    assert any("sensegraph doctor --json" in field["label"] for field in asked)


def test_the_container_copies_what_there_is_and_does_not_run_as_root():
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [
        word for line in lines if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    ]
    assert len(copied) > 3
    assert [name for name in copied if not (ROOT / name).exists()] == []
    let_in = (ROOT / ".dockerignore").read_text(encoding="utf-8")
    assert [name for name in copied if f"!{name}\n" not in let_in] == []
    assert "USER sensegraph" in lines
    (extras,) = re.findall(r"^ARG EXTRAS=(\S+)", "\n".join(lines), re.MULTILINE)
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
