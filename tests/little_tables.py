"""Seven small tables of the reference implementation, to be changed and written where a test wants them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Tables = dict[str, list[dict[str, Any]]]

STORY = "Ada keeps the lamp. Bram sails the boat past Ada's lamp.\nCora wrote to Bram in 1843. Dirk mends nets alone."
NOTE = "Cora never sailed.\nThe lamp went out."


def tables() -> Tables:
    """Two documents, three text units, four entities, three relationships, communities and reports, two claims."""
    return {
        "documents": [
            _document("story", 0, STORY, ["u0", "u1"], "2024-03-05 10:00:00 +0100", None),
            _document("note", 1, NOTE, ["u2"], None, {"author": "Elsa", "pages": 2}),
        ],
        "text_units": [
            _unit("u0", 0, STORY[:57], "story", ["e0", "e1"], ["r0"], ["k0"]),
            _unit("u1", 1, STORY[57:], "story", ["e1", "e2", "e3"], ["r1"], []),
            _unit("u2", 2, "title: note.\n" + NOTE, "note", ["e2", "e0"], ["r2"], ["k1"]),
        ],
        "entities": [
            _entity("e2", 0, "CORA", "PERSON", "Cora writes letters.", ["u1", "u2"], 2),
            _entity("e0", 1, "ADA", "PERSON", "Ada keeps a lamp.", ["u0", "u2"], 2),
            _entity("e1", 2, "BRAM", "PERSON", "Bram is a sailor.", ["u0", "u1"], 3),
            _entity("e3", 3, "DIRK", "PERSON", "Dirk mends nets.", ["u1"], 0),
        ],
        "relationships": [
            _relation("r0", 0, "BRAM", "ADA", "Bram sails past Ada.", 9.0, 4, ["u0"]),
            _relation("r1", 1, "CORA", "BRAM", "Cora wrote to Bram.", 2.0, 4, ["u1"]),
            _relation("r2", 2, "CORA", "LAMP", "Cora saw the lamp.", 1.0, 3, ["u2"]),
        ],
        "communities": [
            _community("c0", 0, 0, -1, [1, 2], ["e2", "e0", "e1"], ["r0", "r1", "r2"], ["u0", "u1", "u2"]),
            _community("c1", 1, 1, 0, [], ["e0", "e1"], ["r0"], ["u0"]),
            _community("c2", 2, 1, 0, [], ["e2"], ["r2"], ["u2"]),
        ],
        "community_reports": [
            _report("p2", 2, 1, 0, [], "Cora", "She writes.", 2.0, _LETTERS, 1),
            _report("p1", 1, 1, 0, [], "Ada and Bram", "A lamp and a boat.", 5.5, _FINDINGS, 2),
            _report("p0", 0, 0, -1, [1, 2], "The harbour", "Boats, lamps, letters.", 8.5, _ABOVE, 3),
        ],
        "covariates": [
            _claim("k0", 0, "ADA", "BRAM", "GUIDANCE", "Ada guides Bram.", "past Ada's lamp", "u0"),
            _claim("k1", 1, "CORA", "NONE", "ABSENCE", "Cora did not sail.", "Cora never sailed.", "u2"),
        ],
    }  # fmt: skip


_LETTERS = [("Letters", "She writes [Data: Entities (0)].")]
_FINDINGS = [
    ("The lamp", "Ada keeps it [Data: Entities (1); Relationships (0)]. It helps Bram [Data: Entities (2, 1, +more)]."),
    ("The boat", "It passes by [Data: Claims (0)]. Nobody knows why."),
]
_ABOVE = [("All of it", "See below [Data: Reports (1, 2)].")]


def write(given: Tables, folder: Path) -> Path:
    """The tables as .jsonl files in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in given.items():
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def read(folder: Path) -> Tables:
    """The tables that were written to `folder`."""
    return {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        for path in sorted(folder.glob("*.jsonl"))
    }


def _document(name: str, number: int, text: str, units: list[str], created: str | None, raw: Any) -> dict[str, Any]:
    return {
        "id": name, "human_readable_id": number, "title": f"{name}.txt", "text": text, "text_unit_ids": units,
        "creation_date": created, "raw_data": raw,
    }  # fmt: skip


def _unit(
    name: str, number: int, text: str, document: str, entities: list[str], relations: list[str], claims: list[str]
) -> dict[str, Any]:
    return {
        "id": name, "human_readable_id": number, "text": text, "n_tokens": len(text.split()), "document_id": document,
        "entity_ids": entities, "relationship_ids": relations, "covariate_ids": claims,
    }  # fmt: skip


def _entity(
    name: str, number: int, title: str, kind: str, description: str, units: list[str], degree: int
) -> dict[str, Any]:
    return {
        "id": name, "human_readable_id": number, "title": title, "type": kind, "description": description,
        "text_unit_ids": units, "frequency": len(units), "degree": degree,
    }  # fmt: skip


def _relation(
    name: str, number: int, source: str, target: str, description: str, weight: float, degree: int, units: list[str]
) -> dict[str, Any]:
    return {
        "id": name, "human_readable_id": number, "source": source, "target": target, "description": description,
        "weight": weight, "combined_degree": degree, "text_unit_ids": units,
    }  # fmt: skip


def _community(
    name: str, number: int, level: int, parent: int, children: list[int], entities: list[str], relations: list[str],
    units: list[str],
) -> dict[str, Any]:  # fmt: skip
    return {
        "id": name, "human_readable_id": number, "community": number, "level": level, "parent": parent,
        "children": children, "title": f"Community {number}", "entity_ids": entities, "relationship_ids": relations,
        "text_unit_ids": units, "period": "2024-03-06", "size": len(entities),
    }  # fmt: skip


def _report(
    name: str, community: int, level: int, parent: int, children: list[int], title: str, summary: str, rank: float,
    findings: list[tuple[str, str]], size: int,
) -> dict[str, Any]:  # fmt: skip
    found = [{"explanation": text, "summary": headline} for headline, text in findings]
    content = "\n\n".join([f"# {title}", summary, *(f"## {h}\n\n{text}" for h, text in findings)])
    return {
        "id": name, "human_readable_id": community, "community": community, "level": level, "parent": parent,
        "children": children, "title": title, "summary": summary, "full_content": content, "rank": rank,
        "rating_explanation": f"{title} matters.", "findings": found, "full_content_json": "{}",
        "period": "2024-03-06", "size": size,
    }  # fmt: skip


def _claim(
    name: str, number: int, subject: str, other: str, kind: str, description: str, quote: str, unit: str
) -> dict[str, Any]:
    return {
        "id": name, "human_readable_id": number, "covariate_type": "claim", "type": kind, "description": description,
        "subject_id": subject, "object_id": other, "status": "TRUE", "start_date": "NONE", "end_date": "NONE",
        "source_text": quote, "text_unit_id": unit,
    }  # fmt: skip
