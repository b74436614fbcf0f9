"""The table of layers in CONTRIBUTING.md names what there is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_table_of_layers_names_every_module_once() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| layer |")[2].partition("\n\n")[0]
    table = re.findall(r"^\| (`[^|]+) \|", text, re.MULTILINE)
    named = [name for row in table for name in re.findall(r"`([a-z_]+)`", row)]
    package = ROOT / "src" / "sensegraph"
    modules = {p.stem for p in package.iterdir() if (p.suffix == ".py" or (p / "__init__.py").exists())}
    assert len(modules) > 15
    assert sorted(named) == sorted(m for m in modules if not m.startswith("__"))
