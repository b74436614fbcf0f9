"""What the page is made of: its weight, what may stand in its files, and names for all that can be used."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

import sensegraph.server
from page_scene import Scene, ask_on_page

PAGE = Path(sensegraph.server.__file__).parent / "page"
FILES = sorted(PAGE.iterdir())
MODULES = [f for f in FILES if f.suffix == ".js"]

UNNAMED = """(() => {
  const seen = e => e.offsetParent !== null || getComputedStyle(e).position === "fixed";
  const text = e => [...e.childNodes].map(n => n.nodeType === 3 ? n.textContent : n.nodeType === 1
    && n.getAttribute("aria-hidden") !== "true" ? n.getAttribute("alt") || text(n) : "").join("").trim();
  const name = e => e.getAttribute("aria-label") || [...(e.labels || [])].map(text).join("") || text(e);
  const uses = "a, button, input, select, textarea, summary, progress, canvas, dialog, [role=img]";
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  const wrong = [...document.querySelectorAll(uses)].filter(e => seen(e) && !name(e)).map(e => e.outerHTML);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) wrong.push("two elements are called " + id);
  for (const e of document.querySelectorAll("[aria-controls]"))
    if (!ids.includes(e.getAttribute("aria-controls"))) wrong.push("controls nothing: " + e.outerHTML);
  for (const e of document.querySelectorAll("img:not([alt])")) wrong.push(e.outerHTML);
  for (const e of document.querySelectorAll("#main > section")) if (seen(e) && !name(e)) wrong.push(e.className);
  if (!document.documentElement.lang || !document.title) wrong.push("no language, or no title");
  for (const e of document.querySelectorAll("[tabindex]")) if (e.tabIndex > 0) wrong.push(e.outerHTML);
  return wrong;
})()"""
LUMINANCE = """(() => {
  const parts = c => c.match(/[\\d.]+/g).map(Number);
  const linear = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = parts(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] === 1) return c;
    }
    return parts(getComputedStyle(document.body).backgroundColor);
  };
  const weak = [];
  for (const e of document.querySelectorAll("p, a, button, summary, h1, h2, h3, li, td, th, label, mark, b")) {
    const written = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!e.offsetParent || e.disabled || !written) continue;
    const [a, b] = [light(parts(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) weak.push(ratio.toFixed(2) + " " + e.outerHTML.slice(0, 120));
  }
  return weak;
})()"""


def test_the_page_weighs_little() -> None:
    weights = {f.name: len(gzip.compress(f.read_bytes(), 9, mtime=0)) for f in FILES}
    assert len(weights) > 10
    assert {"index.html", "app.css", "app.js"} <= set(weights)
    assert 1000 < sum(weights.values()) <= 120_000, weights


def test_nothing_in_the_files_of_the_page_leads_to_another_host() -> None:
    texts = {f.name: f.read_text(encoding="utf-8") for f in FILES}
    assert len(texts) > 10
    addresses = {
        (name, url)
        for name, text in texts.items()
        for url in re.findall(r"https?://[^\s\"'`)]+|//[a-z][\w.-]+\.\w+", text)
    }
    assert {url for _, url in addresses} <= {"http://www.w3.org/2000/svg"}


def test_texts_never_become_markup() -> None:
    assert len(MODULES) > 10
    ways = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc")
    assert [(f.name, found) for f in MODULES for found in ways.findall(f.read_text(encoding="utf-8"))] == []


def test_the_page_has_no_script_and_no_style_between_its_lines() -> None:
    text = (PAGE / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", text) == []
    assert re.findall(r'(?:src|href)="(/page/[^"]+)"', text)
    for name in re.findall(r'(?:src|href)="/page/([^"]+)"', text):
        assert (PAGE / name).is_file(), name


def test_each_module_imports_what_another_one_offers() -> None:
    offered = {
        f.name: set(re.findall(r"^export (?:async )?(?:const|let|class|function\*?) ([\w$]+)", f.read_text(), re.M))
        for f in MODULES
    }
    asked = [
        (f.name, names, source)
        for f in MODULES
        for names, source in re.findall(r'import \{([^}]+)\} from "\./([\w.]+)"', f.read_text())
    ]
    assert asked
    for name, names, source in asked:
        wanted = {n.strip() for n in names.split(",")}
        assert wanted <= offered[source], (name, source, wanted - offered[source])
        rest = (PAGE / name).read_text().split('from "./' + source + '"', 1)[1]
        assert [n for n in wanted if not re.search(rf"(?<!\w)(?<![\w)\]]\.){re.escape(n)}(?!\w)", rest)] == [], (
            f"{name} imports what it does not use"
        )


def test_modules_are_short() -> None:
    lengths = {f.name: len(f.read_text(encoding="utf-8").splitlines()) for f in MODULES}
    assert lengths
    assert max(lengths.values()) <= 400, lengths


@pytest.mark.slow
@pytest.mark.uncounted
def test_all_that_can_be_used_has_a_name_and_can_be_read_in_light_and_dark(scene: Scene) -> None:
    browser = scene.open("/c/harbour/ask")
    browser.wait("document.querySelector('.suggestions button')")
    seen = []

    def look(where: str) -> None:
        browser.wait("!document.querySelector('[aria-busy]')")
        seen.append(where)
        assert browser.run(UNNAMED) == [], where
        for dark in (False, True):
            browser.resize(1280, 800, dark=dark)
            assert browser.run(LUMINANCE) == [], (where, dark)

    look("welcome")
    ask_on_page(scene, "Who keeps the lighthouse of Skerry Point?")
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    look("answer")
    browser.run("document.querySelectorAll('details').forEach(d => d.open = false)")
    browser.click(".chip")
    browser.wait("document.querySelector('mark.now')")
    look("beside")
    browser.press("Escape")
    for key, there in (("m", "#beside .plainlist a"), ("r", ".shelf a"), ("l", ".documents td")):
        browser.press("g")
        browser.press(key)
        browser.wait(f"document.querySelector({there!r})")
        look(key)
    browser.click("[aria-label^='Delete ']")
    browser.wait("document.querySelector('dialog p.soft')")
    look("dialog")
    assert len(seen) == 7
