"""The budgets of CONTRIBUTING.md: each fails here when it is broken, and `make budgets` prints its figure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import budgets

METHODS = "sensegraph.methods."


@pytest.fixture(autouse=True, scope="module")
def the_package_is_measured() -> None:
    """What is bounded from above is there: measures that find nothing would keep to every bound."""
    assert len(budgets.files()) > 300
    assert len(budgets.functions()) > 3000
    assert len(budgets.module_functions()) > 1500


def named(found: list[budgets.Found]) -> list[str]:
    return [str(f) for f in found]


def test_19_of_20_functions_have_at_most_40_lines():
    sizes = sorted(f.size for f in budgets.functions())
    assert sizes[len(sizes) * 95 // 100] <= 40


def test_at_most_15_percent_of_function_names_stand_in_several_files():
    assert len(budgets.repeated_names()) <= 0.15 * len(budgets.module_functions())


def test_at_most_half_of_the_function_names_are_one_word():
    assert len(budgets.one_word_names()) <= 0.5 * len(budgets.module_functions())


def test_hardly_a_name_repeats_its_folder():
    assert len(budgets.names_with_their_folder()) <= 0.02 * len(budgets.module_functions())


def test_at_most_5_private_functions_in_1000_lines_are_used_once():
    assert len(budgets.used_once()) <= 5 * sum(f.size for f in budgets.files()) / 1000


def test_no_class_holds_static_functions_alone():
    assert named(budgets.static_classes()) == []


def test_no_folder_besides_algorithms_has_more_than_16_files():
    assert budgets.crowded_folders() == {}


def test_no_function_has_more_than_60_lines():
    assert named([f for f in budgets.functions() if f.size > 60]) == []


def test_no_file_has_more_than_400_lines():
    assert named([f for f in budgets.files() if f.size > 400]) == []


def test_every_dataclass_is_frozen():
    assert named(budgets.dataclasses_not_frozen()) == []


def test_the_one_broad_except_is_in_the_local_executor():
    assert [f.file for f in budgets.broad_excepts()] == ["runtime/executors/processes.py"]


def test_nothing_prints_or_evaluates():
    assert named(budgets.calls_of("print", "eval", "exec")) == []


def test_no_default_is_mutable():
    assert named(budgets.mutable_defaults()) == []


def test_only_the_settings_read_the_environment():
    assert named(budgets.environment_reads()) == []


def test_every_public_name_has_a_docstring():
    assert named(budgets.public_without_docstring()) == []


def test_importing_a_method_loads_at_most_60_modules_and_none_of_another_methods_folder():
    names = budgets.method_modules()
    found = budgets.modules_loaded(names)
    assert len(names) == len(found) > 15
    assert {name: len(loaded) for name, loaded in found.items() if len(loaded) > 60} == {}
    folders = {name: name.rpartition(".")[0] for name in names}
    others = {
        name: sorted(m for m in loaded if m.count(".") > 2 and m.startswith(METHODS) and m.rpartition(".")[0] != own)
        for (name, own), loaded in zip(folders.items(), found.values(), strict=True)
    }
    assert {name: modules for name, modules in others.items() if modules} == {}


def test_importing_the_package_loads_no_other_module_of_it_and_no_library():
    loaded = budgets.modules_started("import sensegraph")
    assert {name for name in loaded if name.startswith("sensegraph")} == {"sensegraph"}
    assert budgets.modules_of_others(loaded) == set()
    assert len(loaded) <= 60


def test_importing_the_corpus_loads_few_modules_and_no_library():
    loaded = budgets.modules_started("from sensegraph import Corpus")
    assert "sensegraph.corpus.corpus" in loaded
    assert len([name for name in loaded if name.startswith("sensegraph")]) <= 12
    assert budgets.modules_of_others(loaded) == set()
    assert len(loaded) <= 100


def test_help_loads_few_modules_and_no_library_but_that_of_commands():
    loaded = budgets.modules_started(budgets.HELP)
    assert "sensegraph.cli" in loaded
    assert len([name for name in loaded if name.startswith("sensegraph")]) <= 45
    assert {"typer"} <= budgets.modules_of_others(loaded) <= {"typer", "annotated_doc", "shellingham", "rich", "click"}
    assert len(loaded) <= 260


def test_the_core_installs_at_most_300_mb():
    assert "urllib3" in budgets.core_distributions()  # a walk that finds nothing would pass
    assert budgets.core_megabytes() <= 300


def test_the_measures_see_what_they_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    long = "def long():\n" + "    x = 1\n" * 61
    bad = (
        "import os\nfrom dataclasses import dataclass\n@dataclass\nclass C:\n    x: int = 0\n"
        "def f(a=[], *, b={}):\n    print(eval('1'))\n"
        "    try:\n        return os.environ\n    except Exception:\n        pass\n"
    )
    (tmp_path / "bad.py").write_text(bad + long)
    monkeypatch.setattr(budgets, "PACKAGE", tmp_path)
    assert max(f.size for f in budgets.functions()) == 62
    assert [f.name for f in budgets.dataclasses_not_frozen()] == ["C"]
    assert len(budgets.mutable_defaults()) == 2
    assert len(budgets.broad_excepts()) == len(budgets.environment_reads()) == 1
    assert len(budgets.calls_of("print", "eval")) == 2
    assert [f.name for f in budgets.public_without_docstring()] == ["bad.py", "C", "f", "long"]


def test_the_measures_of_names_see_what_they_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "first.py").write_text(
        "def room_size():\n    return _half() + _third()\n"
        "def _half():\n    return 1\n"
        "def _third():\n    return _third\n"
    )
    (tmp_path / "room" / "second.py").write_text(
        "def _half():\n    pass\nclass Box:\n    @staticmethod\n    def f(): ...\n"
    )
    for number in range(15):
        (tmp_path / "room" / f"other_{number}.py").write_text("")
    monkeypatch.setattr(budgets, "PACKAGE", tmp_path)
    assert [f.name for f in budgets.repeated_names()] == ["_half", "_half"]
    assert [f.name for f in budgets.one_word_names()] == ["_half", "_third", "_half"]
    assert [f.name for f in budgets.names_with_their_folder()] == ["room_size"]
    assert [f.name for f in budgets.used_once()] == ["_half"]
    assert [f.name for f in budgets.static_classes()] == ["Box"]
    assert budgets.crowded_folders() == {"room": 17}
    assert budgets.code_lines('"""Doc."""\n\n# no\nx = 1\n') == 1


NO_NETWORK = """
import sys
def refuse(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        sys.stderr.write(f"NETWORK {event} {args}\\n")
        raise SystemExit(9)
sys.addaudithook(refuse)
"""


def offline(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", NO_NETWORK + code], capture_output=True, text=True)


def test_no_module_opens_a_connection_when_it_is_imported():
    wanted = budgets.importable_modules()
    assert len(wanted) > 300
    run = offline(f"from importlib import import_module\nfor n in {wanted!r}: import_module(n)")
    assert (run.returncode, run.stderr) == (0, "")


def test_the_hook_that_guards_the_network_works():
    assert offline("import socket; socket.create_connection(('127.0.0.1', 9))").returncode == 9


@pytest.mark.slow
def test_the_demo_opens_no_connection_and_loads_no_client(tmp_path: Path):
    run = offline(
        f"sys.argv = ['sensegraph', 'demo', '--root', {str(tmp_path / 'demo')!r}]\n"
        "import atexit\n"
        "clients = {'urllib3', 'openai', 'httpx', 'requests', 'nltk', 'kreuzberg'}\n"
        "atexit.register(lambda: print('loaded:', sorted(clients & sys.modules.keys())))\n"
        "from sensegraph.cli import main\nmain()"
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "Ruth Adeyemi voted for the offer" in run.stdout
    assert run.stdout.endswith("loaded: []\n")
