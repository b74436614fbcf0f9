from __future__ import annotations

from pathlib import Path

from scripted import Script, ScriptedServer
from wired import corpus, stories


def test_what_the_endpoint_does_less_well_is_noted_by_the_build_once(tmp_path: Path) -> None:
    with ScriptedServer(Script(schemas="json_object")) as server, corpus(tmp_path, server) as made:
        made.add(stories(2))
        assert any("response_format" in note for note in made.build().notes)
        assert not any("response_format" in note for note in made.build().notes)


def test_what_the_endpoint_does_less_well_is_noted_by_the_answer(tmp_path: Path) -> None:
    with ScriptedServer() as server, corpus(tmp_path, server) as made:
        made.add(stories(2))
        made.build()
        server.script = Script(usage=False)
        assert any("estimate" in note for note in made.query("Who sailed with whom?").notes)
