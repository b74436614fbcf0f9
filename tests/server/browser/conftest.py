"""One browser and one server for all journeys: a small harbour whose papers begin with pictures, and tales that a model
answers slowly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from chromium import Chromium, find_chromium
from harbour import TEXTS
from page_scene import Scene
from scripted import ScriptedServer
from sensegraph.corpus.corpus import Corpus
from web_client import serving
from wired import finished_corpus, stories


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    program = find_chromium()
    if program is None:
        pytest.skip("there is no chromium here; on Debian: apt-get install chromium")
    folder, tales = tmp_path_factory.mktemp("harbour"), tmp_path_factory.mktemp("tales")
    (folder / "input").mkdir()
    (folder / "sensegraph.toml").write_text('engine = "offline"\n')
    for name, text in TEXTS.items():
        (folder / "input" / f"{name}.txt").write_text(f"🚢⚓ 👩‍🚀 {text}", encoding="utf-8")
    with ScriptedServer() as model, Corpus.open(folder) as harbour:
        harbour.sync(folder / "input")
        harbour.build()
        with (
            finished_corpus(tales, model, stories()) as slow,
            serving({"harbour": harbour, "tales": slow}) as client,
            Chromium(program) as browser,
        ):
            yield Scene(browser, client, model, folder)


@pytest.fixture
def scene(whole: Scene) -> Iterator[Scene]:
    """The browser; after the test nothing has gone wrong on the page, and nothing was loaded from elsewhere."""
    whole.browser.leave()  # what the page of the test before still asks for is none of this one's
    whole.browser.complaints.clear()
    whole.browser.requests.clear()
    script = whole.model.script
    yield whole
    whole.model.script = script
    whole.browser.run("1")  # what was said meanwhile is read
    assert whole.browser.complaints == []
    asked = whole.browser.requests
    assert asked
    assert [url for url in asked if not url.startswith((whole.client.origin, "blob:" + whole.client.origin))] == []


@pytest.fixture
def slowly(scene: Scene) -> Scene:
    """The same, with a model that takes its time."""
    scene.model.script = replace(scene.model.script, latency_s=20.0)
    return scene
