"""Make the pictures of the page in docs/pictures again: `python tests/page_pictures.py`. Needs chromium."""

from __future__ import annotations

import io
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from PIL import Image

from chromium import Chromium, find_chromium
from sensegraph.corpus.corpus import Corpus
from web_client import serving

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
QUESTION = "How many buoys had drifting sensors?"


def keep_picture(browser: Chromium, name: str) -> None:
    """What is seen, with as many colours as such a page needs."""
    seen = Image.open(io.BytesIO(browser.picture())).convert("RGB")
    if name == "phone":  # which has two points for each
        seen = seen.resize((seen.width // 2, seen.height // 2), Image.Resampling.LANCZOS)
    seen.quantize(255, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        PICTURES / f"page-{name}.png", optimize=True
    )


def show_page(browser: Chromium, origin: str, sent: list[Path]) -> None:
    """Walk through the page."""
    browser.resize(1280, 800)
    browser.open(f"{origin}/c/tides/ask")
    browser.wait("document.querySelector('.welcome')")
    browser.click("#question")
    browser.type(QUESTION)
    browser.press("Enter")
    browser.wait("document.querySelector('footer.facts')")
    browser.click(".chip")
    browser.wait("document.querySelector('mark.now')")
    keep_picture(browser, "ask")
    browser.resize(390, 780, phone=True)
    browser.press("Escape")
    browser.wait("document.querySelector('#beside').hidden")
    browser.run("document.activeElement.blur()")
    keep_picture(browser, "phone")
    browser.resize(1280, 800)
    browser.press("g")
    browser.press("m")
    browser.wait("document.querySelector('#beside .lit')")
    keep_picture(browser, "map")
    browser.resize(1280, 800, dark=True)
    browser.click("#beside .plainlist a")
    browser.wait("document.querySelector('.crumb') && document.querySelector('#beside .answer')")
    browser.click("#beside .tag")
    browser.wait("document.querySelector('#beside .card q') && !document.querySelector('[aria-busy]')")
    keep_picture(browser, "entity-dark")
    browser.resize(1280, 800)
    browser.open(f"{origin}/c/tides/library")
    browser.wait("document.querySelector('.documents td')")
    browser.choose_files("#files", *sent)
    browser.wait("document.querySelector('.plan .primary')")
    keep_picture(browser, "library")
    browser.click(".duplicates button")
    browser.wait("document.querySelector('.duplicates li')")
    browser.run("document.querySelector('.duplicates').scrollIntoView({block: 'start'})")
    keep_picture(browser, "duplicates")


def main() -> None:
    program = find_chromium()
    if program is None:
        sys.exit("There is no chromium here; on Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "tides"
        (folder / "input").mkdir(parents=True)
        (folder / "sensegraph.toml").write_text('engine = "offline"\n')
        for item in files("sensegraph").joinpath("data", "demo").iterdir():
            (folder / "input" / item.name).write_bytes(item.read_bytes())
        note, table = Path(place) / "2025-01-08-board-minutes.md", Path(place) / "buoys.bin"
        note.write_text("# Board meeting, 8 January 2025\n\nPriya Raman reported that no buoy drifts any more.\n")
        table.write_bytes(b"\0\1\2\3" * 99)
        with Corpus.open(folder) as corpus:
            corpus.sync(folder / "input")
            corpus.build()
            with serving({"tides": corpus}) as client, Chromium(program) as browser:
                show_page(browser, client.origin, [note, table])
                assert browser.complaints == [], browser.complaints


if __name__ == "__main__":
    main()
