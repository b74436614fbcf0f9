"""Files that machines of others read: workflows and the container name tasks, versions and paths that exist."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import urllib.request
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
TASKS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def read_jobs(path: Path) -> dict[str, Any]:
    """The jobs of a workflow. YAML reads the key `on` as true."""
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", True, "permissions", "jobs"} <= set(found)
    jobs: dict[str, Any] = found["jobs"]
    return jobs


STEPS = [(path.name, step) for path in WORKFLOWS for job in read_jobs(path).values() for step in job["steps"]]


def test_every_job_has_a_system_an_end_and_steps():
    jobs = [job for path in WORKFLOWS for job in read_jobs(path).values()]
    assert len(jobs) > 5
    assert [job for job in jobs if not job["runs-on"] or not job["steps"]] == []
    assert [step for _, step in STEPS if ("run" in step) == ("uses" in step)] == []


def test_every_task_of_make_that_a_workflow_runs_exists():
    lines = [step["run"] for _, step in STEPS if "run" in step]
    called = [task for line in lines for task in re.findall(r"\bmake ([a-z-]+)", line)]
    assert len(called) > 5
    assert set(called) <= TASKS


def test_actions_are_named_with_their_versions():
    used = {step["uses"] for _, step in STEPS if "uses" in step}
    assert {"actions/checkout@v4", "actions/setup-python@v5"} <= used
    assert [name for name in used if not re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", name)] == []


def test_the_versions_of_python_are_those_that_the_package_takes():
    low, high = re.findall(r"3\.(\d+)", PROJECT["requires-python"])
    taken = {f"3.{minor}" for minor in range(int(low), int(high))}
    told = {c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)}
    tested = read_jobs(ROOT / ".github" / "workflows" / "ci.yml")["test"]["strategy"]["matrix"]["python"]
    asked = {
        str(v) for _, step in STEPS for v in str(step.get("with", {}).get("python-version", "")).split() if v[:1] == "3"
    }
    (image,) = set(re.findall(r"^FROM python:(3\.\d+)-slim", DOCKERFILE, re.MULTILINE))
    assert told == taken
    assert set(tested) == taken
    assert asked <= taken
    assert image in taken


def test_files_that_a_workflow_names_exist():
    named = {n for _, step in STEPS for n in re.findall(r"\b((?:tests|bench|docs)/[\w./-]+)", step.get("run", ""))}
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
    release = [step["run"] for name, step in STEPS if name == "release.yml" and "grep" in step.get("run", "")]
    assert release == ['grep -qx "version = \\"${GITHUB_REF_NAME#v}\\"" pyproject.toml']
    assert f'\nversion = "{PROJECT["version"]}"\n' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_what_the_container_copies_is_there_and_is_let_through():
    copied = [w for line in re.findall(r"^COPY (?!--)(.+)$", DOCKERFILE, re.MULTILINE) for w in line.split()[:-1]]
    assert "src" in copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    first, *rest = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert first == "*"
    assert [name for name in copied if not any(fnmatchcase(f"!{name}", pattern) for pattern in rest)] == []
    needed = {PROJECT["readme"], *PROJECT.get("license-files", ())}
    assert {name for name in needed if isinstance(name, str)} <= {*copied}


@pytest.mark.parametrize("place", ["Dockerfile", "docs/documents.md", "docs/browse.md"])
def test_extras_that_are_named_are_extras(place: str):
    text = (ROOT / place).read_text(encoding="utf-8")
    named = re.findall(r"EXTRAS=([\w,-]+)", text) + re.findall(r"sensegraph\[([\w,-]+)\]", text)
    assert len(named) > (place == "Dockerfile")
    assert {name for group in named for name in group.split(",")} <= set(PROJECT["optional-dependencies"])


def test_the_commands_at_the_head_of_the_container_index_answer_and_serve(tmp_path: Path):
    """As they stand there, in an empty folder with texts, without the container: only the port is another."""
    shutil.copytree(ROOT / "src/sensegraph/data/demo", tmp_path / "input")
    lines = re.findall(r"^#   docker run .* sensegraph (\w.*)$", DOCKERFILE, re.MULTILINE)
    index, query, serve = (shlex.split(line) for line in lines)
    assert (index[0], query[0], serve[0]) == ("index", "query", "serve")
    program = [sys.executable, "-m", "sensegraph"]
    for command in (index, query):
        run = subprocess.run(
            [*program, *command], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
        assert (run.returncode, run.stderr) == (0, "")
    assert re.search(r"^\[1\] [\w.-]+\.md:\d+-\d+ “", run.stdout, re.MULTILINE)
    serve[serve.index("--port") + 1] = "0"
    with subprocess.Popen([*program, *serve], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            told = [server.stderr.readline(), server.stderr.readline()]
            port = re.search(r"http://0\.0\.0\.0:(\d+)/", told[1])
            assert port, told
            token = dict(line.split() for line in (tmp_path / "tokens").read_text().splitlines()[1:])["read"]
            request = urllib.request.Request(
                f"http://127.0.0.1:{port[1]}/", headers={"Authorization": f"Bearer {token}"}
            )
            with urllib.request.urlopen(request, timeout=60) as reply:
                assert reply.status == 200
        finally:
            server.terminate()
            server.wait(60)
