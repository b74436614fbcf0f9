"""What people do with the page, in a browser: each journey begins at an address and ends at what is seen."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from figured import described, images_in, png
from harbour import TWO_NAMES
from page_scene import Scene, ask_on_page
from scripted import Script, ScriptedServer
from sensegraph.corpus.corpus import Corpus
from sensegraph.server.http.access import ServeOptions, Tokens
from sensegraph.types import Document
from web_client import serving

pytestmark = [pytest.mark.slow, pytest.mark.uncounted]

KEEPER = "Who keeps the lighthouse of Skerry Point?"
MARKED = "[...document.querySelectorAll('mark.now')].map(m => m.textContent).join('')"
SEEN = """(e => { const r = e.getBoundingClientRect(), at = document.elementFromPoint(r.x + 4, r.y + r.height / 2);
  return e.contains(at) || at.contains(e); })(document.querySelector('mark.now'))"""


def test_a_click_on_a_chip_marks_the_words_of_the_quotation_though_pictures_stand_before_them(scene: Scene) -> None:
    browser = scene.open("/c/harbour/ask")
    ask_on_page(scene, KEEPER)
    assert "/c/harbour/ask/" in browser.run("location.pathname")
    browser.point(*browser.middle(".chip"))
    quote = browser.wait(
        "!document.querySelector('#quote').hidden && document.querySelector('#quote blockquote').textContent"
    )
    browser.click(".chip")
    browser.wait("document.querySelector('mark.now')")
    assert browser.run(MARKED) == quote == "Ada Finch keeps the lighthouse of Skerry Point."
    assert browser.run(SEEN), "the mark is in view, and nothing lies over it"
    words = browser.run("Object.fromEntries(new URLSearchParams(location.search))")
    text = scene.client.get("/api/v1/harbour/documents/minutes-2019.txt").json["text"]
    assert words["doc"] == "minutes-2019.txt"
    assert text[int(words["start"]) : int(words["end"])] == quote
    assert text[:1] == "🚢"
    browser.press("Escape")
    browser.wait("document.querySelector('#beside').hidden")
    assert browser.run("document.activeElement.className") == "chip", "the focus is where it came from"
    browser.press("]")
    assert browser.wait("document.querySelector('mark.now') && " + MARKED) == quote


def test_a_chip_and_the_reader_say_which_figure_and_which_model_told_of_it(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    sentence = "In the fourth quarter Brackwater Labs delivered 122 Heron buoys."
    told = described("The chart shows deliveries of Heron buoys.", sentence)
    (tmp_path / "paper.html").write_text(
        "<p>Brackwater Labs builds the Heron buoy.</p><figure><img src='chart.png'></figure>"
    )
    (tmp_path / "chart.png").write_bytes(png(300, 200, 40))
    with ScriptedServer(Script(reply=lambda body: told if images_in(body) else None)) as seer:
        sees = {"base_url": seer.base_url, "vision_model": "seer-1"}
        settings = {"engine": "offline", "embedder": "offline", "endpoint": sees}
        with Corpus.open(tmp_path / "corpus", settings=settings) as drawn, serving({"drawn": drawn}) as other:
            drawn.add(tmp_path / "paper.html")
            drawn.build()
            browser = scene.browser
            browser.resize(1280, 800)
            browser.open(f"{other.origin}/c/drawn/ask")
            ask_on_page(scene, "How many Heron buoys did Brackwater Labs deliver in the fourth quarter?")
            named = "[...document.querySelectorAll('.chip')].map(c => c.getAttribute('aria-label')).join()"
            assert "figure 1 (described by seer-1)" in browser.run(named)
            browser.click(".chip[aria-label*='figure 1']")
            browser.wait("document.querySelector('mark.now')")
            assert browser.run(MARKED) == sentence
            shown = browser.run("document.querySelector('.reader .text').textContent")
            assert shown.index("figure 1, described by seer-1") < shown.index(sentence)
            scene.browser.requests[:] = [scene.client.origin]


def test_chips_and_the_reader_say_the_page(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "sensegraph.toml").write_text('engine = "offline"\n')
    text = (
        "🚢 Tom Reeve leads the fleet.\n\fAda Finch keeps the lighthouse of Skerry Point.\n\f\n\fIda Holt counts oil."
    )
    with Corpus.open(tmp_path) as paged, serving({"paged": paged}) as other:
        paged.add(Document("report.txt", text))
        paged.build()
        browser = scene.browser
        browser.resize(1280, 800)
        browser.open(f"{other.origin}/c/paged/ask")
        ask_on_page(scene, KEEPER)
        assert browser.run("document.querySelector('.chip').getAttribute('aria-label')") == "Source 1: report, p. 2"
        assert "report, p. 1" in browser.run("document.querySelector('.evidence .source').textContent")
        browser.click(".chip")
        browser.wait("document.querySelector('mark.now')")
        pages = "[...document.querySelectorAll('.page')].map(p => p.dataset.page)"
        assert browser.run(pages) == ["p. 1", "p. 2", "p. 3", "p. 4"]
        assert browser.run("document.querySelector('.reader .text').textContent") == text
        assert "4 pages" in browser.run("document.querySelector('.reader .facts').textContent")
        scene.browser.requests[:] = [scene.client.origin]


def test_the_address_of_a_span_and_that_of_a_conversation_lead_to_them_again(scene: Scene) -> None:
    browser = scene.open("/c/harbour/ask")
    ask_on_page(scene, KEEPER)
    browser.click(".chip")
    browser.wait("document.querySelector('mark.now')")
    before = browser.run("document.querySelector('.turn .answer').textContent")
    browser.open(browser.run("location.href"))
    browser.wait("document.querySelector('mark.now')")
    assert browser.run("document.querySelector('.turn .answer').textContent") == before
    chip = browser.run("document.querySelector('.chip').href")
    browser.open(chip)
    browser.wait("document.querySelector('#main mark.now')")
    assert browser.run(MARKED) == "Ada Finch keeps the lighthouse of Skerry Point."


def test_the_map_leads_into_a_community_and_on_to_an_entity_and_lights_what_the_answer_names(scene: Scene) -> None:
    browser = scene.open("/c/harbour/ask")
    ask_on_page(scene, KEEPER)
    browser.press("Escape")
    browser.press("g")
    browser.press("m")
    browser.wait("document.querySelector('#beside .lit .tag')")
    lit = browser.run("[...document.querySelectorAll('#beside .lit .tag')].map(t => t.textContent)")
    assert {"Ada Finch", "Skerry Point"} <= set(lit)
    found = scene.client.get("/api/v1/harbour/map?depth=0").json
    disc = max(found["communities"], key=lambda c: c["r"])
    discs = [c for c in found["communities"] if c["r"]]
    left, right = min(c["x"] - c["r"] for c in discs), max(c["x"] + c["r"] for c in discs)
    top, bottom = min(c["y"] - c["r"] for c in discs), max(c["y"] + c["r"] for c in discs)
    x, y, wide, tall = browser.run(
        "(r => [r.x, r.y, r.width, r.height])(document.querySelector('.map canvas').getBoundingClientRect())"
    )
    zoom = min((wide - 80) / (right - left), (tall - 96) / (bottom - top))
    across, down = x + wide / 2 + (disc["x"] - (left + right) / 2) * zoom, y + 56 + (tall - 96) / 2
    browser.click_at(across + disc["r"] * zoom * 0.93, down + (disc["y"] - (top + bottom) / 2) * zoom)
    browser.wait("document.querySelector('.crumb')")
    assert browser.run("location.pathname") == f"/c/harbour/map/{disc['id']}"
    browser.wait("document.querySelector('#beside .answer')")
    assert browser.run("document.querySelector('#beside h1').textContent") == disc["title"]
    name = browser.run("document.querySelector('#beside .tag').textContent")
    browser.click("#beside .tag")
    browser.wait("document.querySelector('#beside .card q')")
    assert browser.run("document.querySelector('#beside h1').textContent") == name
    assert browser.run("document.querySelectorAll('#beside .source').length") > 0


def test_a_dropped_file_is_planned_then_indexed_then_cited(scene: Scene, tmp_path: Path) -> None:
    browser = scene.open("/c/harbour/library")
    browser.wait("document.querySelector('.documents td')")
    new, odd = tmp_path / "keeper-2025.txt", tmp_path / "odd.bin"
    new.write_text(
        "🐟 Otto Brandt is the harbour master of Port Ellery. Otto Brandt came from Lowmouth.", encoding="utf-8"
    )
    odd.write_bytes(b"\0\1\2\3" * 50)
    x, y = browser.middle(".drop")
    data = {"items": [], "files": [str(new), str(odd)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        browser.call("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)
    browser.wait("document.querySelector('.plan .primary')")
    plan = browser.run("document.querySelector('.plan').innerText")
    assert "keeper-2025.txt" in plan
    assert "costs nothing" in plan
    assert "odd.bin" in browser.run("document.querySelector('.desk').innerText"), "what is left aside is said, with why"
    assert (scene.folder / "input/keeper-2025.txt").exists()
    assert scene.client.get("/api/v1/harbour/documents?q=keeper").json["found"] == 0, "nothing is computed yet"
    browser.click(".plan .primary")
    browser.wait("document.querySelector('.job progress, .job button')")
    browser.wait("document.querySelector('.job')?.innerText.includes('Done.')")
    browser.press("g")
    browser.press("a")
    browser.click("#places a")
    ask_on_page(scene, "Who is the harbour master of Port Ellery?")
    assert browser.run("[...document.querySelectorAll('.chip')].some(c => c.dataset.doc === 'keeper-2025.txt')")


def test_a_document_is_deleted_after_a_look_at_what_goes(scene: Scene) -> None:
    browser = scene.open("/c/harbour/library")
    button = "[aria-label='Delete letter-2023']"
    browser.click(button)
    told = browser.wait("document.querySelector('dialog p:not(.row)').innerText")
    assert "names stand in it" in told
    assert "input" in browser.run("document.querySelector('dialog').innerText")
    browser.click("dialog .row button:first-child")
    browser.wait("!document.querySelector('dialog')")
    assert (scene.folder / "input/letter-2023.txt").exists()
    browser.click(button)
    browser.wait("document.querySelector('dialog p.soft')")
    browser.click("dialog .danger")
    browser.wait("document.querySelector('.job')?.innerText.includes('Deleted.')")
    browser.wait(f"document.querySelector('.documents td') && !document.querySelector({json.dumps(button)})")
    assert not (scene.folder / "input/letter-2023.txt").exists()
    left = scene.client.get("/api/v1/harbour/documents?limit=50").json["documents"]
    assert left
    assert "letter-2023.txt" not in [d["id"] for d in left]


def test_names_that_may_be_one_thing_are_decided_by_keyboard(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "sensegraph.toml").write_text('engine = "offline"\n[index.resolve]\nautomatic = false\n')
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "space.txt").write_text(TWO_NAMES)
    with Corpus.open(tmp_path) as space:
        space.sync(tmp_path / "input")
        space.build()
        with serving({"space": space}) as other:
            browser = scene.browser
            browser.resize(1280, 800)
            browser.open(f"{other.origin}/c/space/library")
            browser.wait("document.querySelector('.documents td')")
            browser.run("document.querySelector('.duplicates button').focus()")
            browser.press("Enter")
            browser.wait("document.querySelectorAll('.duplicates li').length === 2")
            rows = browser.run("[...document.querySelectorAll('.duplicates li')].map(e => e.innerText)")
            assert all("a text says" in row and "organization" in row for row in rows)
            assert "One thing: " in browser.run("document.activeElement.getAttribute('aria-label')")
            browser.press("Enter")
            browser.wait("document.querySelectorAll('.duplicates li').length === 1")
            assert "one thing now" in browser.run("document.querySelector('.job').innerText")
            browser.press("Tab")
            assert "Two things: " in browser.run("document.activeElement.getAttribute('aria-label')")
            browser.press("Enter")
            browser.wait("document.querySelector('.job').innerText.includes('kept apart')")
            assert "no pair to decide" in browser.run("document.querySelector('.duplicates').innerText")
            names = [e["name"] for e in other.get("/api/v1/space/entities").json["entities"]]
            assert len({"NASA", "National Aeronautics and Space Administration"} & {*names}) == 1 or (
                len({"ESA", "European Space Agency"} & {*names}) == 1
            )
            browser.leave()  # the page lists its documents again after a job
            assert [url for url in browser.requests if not url.startswith((other.origin, "about:"))] == []
            browser.requests[:] = [scene.client.origin]


def test_a_question_is_stopped_and_asked_again(slowly: Scene) -> None:
    browser = slowly.open("/c/tales/ask?q=Who+paid+Ada+Harrow%3F&method=naive")
    browser.wait(
        "document.querySelector('#question').value && document.querySelector('[name=method] option[value=naive]')"
    )
    browser.wait("document.querySelector('.welcome')")
    browser.press("Enter")
    browser.wait("document.querySelector('.stage').innerText.includes('naive')")
    assert browser.run("document.querySelector('.send').getAttribute('aria-label')") == "Stop"
    browser.click(".send")
    browser.wait("document.querySelector('.reply')?.innerText.startsWith('Stopped.')")
    assert browser.run("document.querySelector('.send').getAttribute('aria-label')") == "Ask"
    slowly.model.script = replace(slowly.model.script, latency_s=0.0)
    browser.click(".reply .link")
    browser.wait("document.querySelector('.turn:last-child footer.facts')")


def test_on_a_phone_everything_stands_in_one_column(scene: Scene) -> None:
    browser = scene.open("/c/harbour/ask")
    browser.resize(390, 780, phone=True)
    ask_on_page(scene, KEEPER)
    fits = "[document.documentElement, document.querySelector('#main')].every(e => e.scrollWidth <= innerWidth)"
    below = "document.querySelector('#places').getBoundingClientRect().bottom === innerHeight"
    assert browser.run(fits)
    assert browser.run(below), "the places are within reach of a thumb"
    browser.click(".chip")
    browser.wait("document.querySelector('mark.now')")
    assert browser.run(SEEN)
    assert browser.run("document.querySelector('#beside').getBoundingClientRect().width === innerWidth")
    browser.click("[aria-label='Close (Escape)']")
    for place in ("map", "read", "library"):
        browser.click(f"#places a[href*='/{place}']")
        browser.wait(f"location.pathname.includes('/{place}') && !document.querySelector('[aria-busy]')")
        assert browser.run(fits), place
    low = "[...document.querySelectorAll('#places a')].map(a => a.getBoundingClientRect().height)"
    assert min(browser.run(low)) >= 40


def test_a_token_in_the_address_signs_in_and_one_for_reading_changes_nothing(scene: Scene, tmp_path: Path) -> None:
    tokens = Tokens(read=(sha256(b"reads-a-lot-of-papers").digest(),), write=(sha256(b"writes-many-papers").digest(),))
    with (
        Corpus.open(scene.folder) as harbour,
        serving({"harbour": harbour}, ServeOptions(port=0, tokens=tokens)) as other,
    ):
        browser = scene.browser
        browser.open(f"{other.origin}/c/harbour/library")
        browser.wait("document.querySelector('.signin input')")
        browser.type("no-such-token-at-all")
        browser.press("Enter")
        assert "not known" in browser.wait("document.querySelector('.signin [role=alert]').textContent")
        assert [text for text in browser.complaints if " 401 " not in text] == []
        browser.complaints.clear()
        browser.open(f"{other.origin}/c/harbour/library#token=reads-a-lot-of-papers")
        browser.wait("document.querySelector('.documents td')")
        assert "token" not in browser.run("location.href")
        assert browser.run("document.querySelector('.drop').hidden")
        assert not browser.run("document.querySelector(\"[aria-label^='Delete ']\") !== null")
        assert [url for url in browser.requests if not url.startswith((other.origin, "about:"))] == []
        browser.requests[:] = [scene.client.origin]
