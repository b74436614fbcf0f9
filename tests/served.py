"""The contract of a method over the scripted server: what the tests of most methods begin with."""

from __future__ import annotations

from pathlib import Path

from scripted import ScriptedServer
from sensegraph.index.index import Index
from sensegraph.runtime.runtime import Runtime
from sensegraph.testing import SAMPLE, MethodContract
from wired import finished_corpus


class ServedContract(MethodContract):
    """A method's contract with the scripted server as model and embedder. Override `make`."""

    def build(self, folder: Path) -> tuple[Runtime, Index]:
        made = finished_corpus(folder, self.server, SAMPLE)
        return made.runtime(), made.index()

    def setup_method(self) -> None:
        self.server = ScriptedServer().__enter__()

    def teardown_method(self) -> None:
        self.server.__exit__()
