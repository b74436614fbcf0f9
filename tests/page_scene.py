"""A browser before a server, and what journeys on the page begin with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from chromium import Chromium
from scripted import ScriptedServer
from web_client import WebClient


@dataclass(frozen=True)
class Scene:
    """A browser before a server; `model` answers for the corpus `tales`, `folder` is that of the corpus `harbour`."""

    browser: Chromium
    client: WebClient
    model: ScriptedServer
    folder: Path

    def open(self, place: str) -> Chromium:
        """Go to a place of the page, in a window of the usual size."""
        self.browser.resize(1280, 800)
        self.browser.open(self.client.origin + place)
        return self.browser


def ask_on_page(scene: Scene, question: str) -> None:
    """Write a question, send it, and wait for the end of its answer."""
    scene.browser.wait("document.querySelector('.welcome, .turn')")
    scene.browser.click("#question")
    scene.browser.type(question)
    scene.browser.press("Enter")
    scene.browser.wait("document.querySelector('.turn:last-child footer.facts')")
