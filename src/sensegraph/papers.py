"""Where the data of each paper stand: its prompts, criteria, conditions and published tables, in its own folder."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

PAPERS = {
    "circlemind2024": "methods/fastgraphrag",
    "edge2024": "methods/graphrag",
    "es2023": "lab/grounding/es2023",
    "gao2023": "lab/grounding/gao2023",
    "graft2024": "methods/graft",
    "guo2024": "methods/lightrag",
    "gutierrez2025": "methods/hipporag",
    "huang2025": "methods/hirag",
    "liang2024": "methods/kag",
    "metropolitansky2025": "lab/grounding/metropolitansky2025",
    "sarthi2024": "methods/raptor",
    "traag2011": "lab/reproduction/traag2011",
    "zhang2025": "methods/leanrag",
}


def paper_folder(paper: str) -> Traversable:
    """The folder that holds the data of a paper: `prompts`, `tables`, `plans`, `criteria.toml`, `repro.toml`."""
    return files("sensegraph") / PAPERS[paper]
