"""The files of a picture: valid, small, self-contained, and harmless whatever the names say."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import zlib
from pathlib import Path
from shutil import which
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pictured import cluster, entity, graph, levels
from sensegraph.errors import InputError
from sensegraph.graphs.drawing.drawing import Drawing, lay_out_drawing
from sensegraph.graphs.drawing.rendering import (
    escape_script_json,
    escape_xml,
    list_missing_characters,
    render_html,
    render_png,
    render_svg,
)
from sensegraph.graphs.drawing.scene import compose_scene
from sensegraph.graphs.drawing.shapes import Scene, Text
from sensegraph.types import Graph

HOSTILE = {0: "</script><script>alert(1)</script>", 1: "a & b < c > \"d\" 'e'", 2: "<!-- ]]> {{data}} \x00\x1b\ufffe"}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def hostile() -> Drawing:
    return lay_out_drawing(graph(60, 12, names=HOSTILE), levels(60, 12, dict(HOSTILE)), name=HOSTILE[0])


def data(page: str) -> dict[str, object]:
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert len(found) == 1
    return json.loads(found[0])


# ── SVG ──


def test_a_picture_is_valid_xml_whatever_the_names_say(hostile: Drawing):
    root = ElementTree.fromstring(render_svg(compose_scene(hostile, 0)))
    assert root.tag == SVG + "svg"
    titles = [t.text for t in root.iter(SVG + "title")]
    assert any(t.startswith(HOSTILE[1]) for t in titles if t)
    assert {e.tag.removeprefix(SVG) for e in root.iter()} == {
        "svg", "title", "style", "rect", "g", "circle", "path", "text",
    }  # fmt: skip


@given(st.text())
def test_any_text_can_stand_in_xml(text: str):
    found = ElementTree.fromstring(f'<a b="{escape_xml(text)}">{escape_xml(text)}</a>')
    kept = escape_xml(text).replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
    assert (found.text or "").replace("\n", "\r") == kept.replace("\r\n", "\r").replace("\n", "\r")


def test_a_picture_changes_its_paper_and_ink_in_the_dark(hostile: Drawing):
    style = ElementTree.fromstring(render_svg(compose_scene(hostile, 0))).findtext(SVG + "style")
    assert style
    light, dark = style.split("@media(prefers-color-scheme:dark)")
    assert ".f-paper{fill:#ffffff}" in light
    assert ".f-paper{fill:#14161a}" in dark


def test_every_class_that_is_used_is_defined(hostile: Drawing):
    text = render_svg(compose_scene(hostile, 1))
    used = {c for names in re.findall(r'class="([^"]*)"', text) for c in names.split()}
    assert used
    assert [c for c in sorted(used) if f".{c}{{" not in text] == []


@pytest.mark.slow
def test_eight_thousand_entities_make_a_file_of_at_most_3_mb():
    made = lay_out_drawing(graph(8000, 200), levels(8000, 200))
    assert max(len(render_svg(compose_scene(made, d)).encode()) for d in (0, 1)) < 3e6
    assert len(render_html(made).encode()) < 6e6


# ── HTML ──


def test_a_page_cannot_be_broken_by_names(hostile: Drawing):
    page = render_html(hostile)
    assert page.count("</script>") == page.count("<script") == 2
    assert "alert(1)</script>" not in page
    names = data(page)["names"]
    assert isinstance(names, list)
    assert names[:3] == [HOSTILE[i] for i in range(3)]


@given(st.text())
def test_json_in_a_page_keeps_its_value_and_ends_no_element(text: str):
    inside = escape_script_json(json.dumps(text, ensure_ascii=False))
    assert not re.search(r"[<>&]", inside)
    assert json.loads(inside) == text


def test_a_page_needs_nothing_from_elsewhere(hostile: Drawing):
    page = render_html(hostile)
    assert "default-src 'none'" in page
    own = page.replace(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0], "")
    assert not re.search(r"https?://|src=|@import|url\(|fetch\(|XMLHttpRequest|innerHTML", own)


def test_a_page_holds_every_entity_relation_and_depth(hostile: Drawing):
    held = data(render_html(hostile, (0, 1)))
    sizes = {len(held[n]) for n in ("x", "y", "r", "names", "types", "texts", "degrees")}  # type: ignore[arg-type]
    assert sizes == {60}
    assert len(held["from"]) == len(held["to"]) == len(hostile.edges.weight)  # type: ignore[arg-type]
    depths = held["depths"]
    assert isinstance(depths, list)
    assert [d["depth"] for d in depths] == [0, 1]
    for d in depths:
        assert max(d["of"]) == len(d["titles"]) - 1 == len(d["colours"]) - 1
    assert depths[0]["summaries"][3] == "A summary of 3."


def test_the_page_of_one_depth_holds_that_one(hostile: Drawing):
    depths = data(render_html(hostile, (1,)))["depths"]
    assert isinstance(depths, list)
    assert [d["depth"] for d in depths] == [1]


# What a browser gives a script, as little as the page needs; the page itself runs as it is.
_BROWSER = r"""
const fs = require("fs");
const page = fs.readFileSync(process.argv[2], "utf8");
const [, json] = page.match(/id="data">([^]*?)<\/script>/);
const code = page.match(/<script>([^]*?)<\/script>/)[1];
let drawn = 0, texts = [];
const pen = new Proxy({}, {get: (t, k) => k in t ? t[k] : k === "measureText" ? s => ({width: 6 * s.length})
  : (...words) => { drawn += 1; if (k === "fillText") texts.push(words[0]); }});
class Element {
  constructor(id) { Object.assign(this, {id, children: [], style: {}, told: {}, hidden: false, value: "", kept: {}}); }
  getContext() { return pen; }
  addEventListener(kind, call) { this.told[kind] = call; }
  setAttribute(name, value) { this.kept[name] = String(value); }
  removeAttribute(name) { delete this.kept[name]; }
  append(...some) { this.children.push(...some); }
  prepend(...some) { this.children.unshift(...some); }
  replaceChildren(...some) { this.children = some; }
  setPointerCapture() {}
  focus() { this.focused = true; }
}
const known = {};
const element = id => known[id] ||= new Element(id);
element("data").textContent = json;
const keys = {};
Object.assign(globalThis, {
  document: {getElementById: element, createElement: kind => new Element(kind), documentElement: {}},
  getComputedStyle: () => ({getPropertyValue: () => "#123456"}),
  requestAnimationFrame: call => call(), matchMedia: () => ({addEventListener() {}}),
  addEventListener: (kind, call) => { keys[kind] = call; },
  innerWidth: 1200, innerHeight: 800, devicePixelRatio: 2,
});
new Function(code)();
const press = key => keys.keydown({key, preventDefault() {}});
const say = e => [e.textContent || "", ...e.children.map(say)].join("|");
const out = {drawn, texts: [...texts], depths: element("depths").children.map(c => c.kept["aria-pressed"])};
element("search").value = process.argv[3];
element("search").told.input();
out.found = element("found").children.map(say);
element("search").told.keydown({key: "Enter", preventDefault() {}, stopPropagation() {}});
out.about = say(element("about"));
press("d");
out.after = element("depths").children.map(c => c.kept["aria-pressed"]);
for (const key of ["+", "-", "0", "ArrowLeft", "/"]) press(key);
out.focused = element("search").focused === true;
const before = drawn;
element("map").told.wheel({preventDefault() {}, deltaY: -100, deltaMode: 0, clientX: 5, clientY: 5});
out.zoomed = drawn > before;
press("Escape");
out.closed = element("about").hidden;
const near = {pointerId: 1};
for (let x = 0; x < 1200 && element("about").hidden; x += 4) for (let y = 0; y < 800 && element("about").hidden; y += 4)
  element("map").told.pointermove({...near, clientX: x, clientY: y});
out.hovered = say(element("about"));
console.log(JSON.stringify(out));
"""


@pytest.mark.skipif(which("node") is None, reason="node is not installed")
def test_the_page_runs_draws_finds_and_tells(tmp_path: Path, hostile: Drawing):
    (tmp_path / "page.html").write_text(render_html(hostile), encoding="utf-8")
    (tmp_path / "browser.cjs").write_text(_BROWSER)
    command = ["node", str(tmp_path / "browser.cjs"), str(tmp_path / "page.html"), "NAME 17"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert told["drawn"] > 100
    assert told["texts"]
    assert (told["depths"], told["after"]) == (["true", "false"], ["false", "true"])
    assert told["found"] == ["Name 17 |person"]
    assert "Name 17|person, degree" in told["about"]
    assert "What is said of 17." in told["about"]
    assert HOSTILE[1] in told["about"]  # the second community, of 12 entities each
    assert "A summary of 1." in told["about"]
    assert told["focused"]
    assert told["zoomed"]
    assert told["closed"]
    assert "person, degree" in told["hovered"]


# ── PNG ──


def chunks(file: bytes) -> list[tuple[bytes, bytes]]:
    """The parts of a PNG file, each with its checksum checked."""
    assert file.startswith(b"\x89PNG\r\n\x1a\n")
    found, at = [], 8
    while at < len(file):
        (size,) = struct.unpack(">I", file[at : at + 4])
        kind, body = file[at + 4 : at + 8], file[at + 8 : at + 8 + size]
        assert struct.unpack(">I", file[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + body)
        found.append((kind, body))
        at += 12 + size
    return found


def test_a_png_has_the_size_and_the_exact_colours_of_the_picture(hostile: Drawing):
    pytest.importorskip("PIL")
    picture = compose_scene(hostile, 0)
    parts = dict(chunks(render_png(picture)))
    width, height = struct.unpack(">II", parts[b"IHDR"][:8])
    assert (width, height) == (round(picture.width), pytest.approx(picture.height, abs=1))
    palette = [parts[b"PLTE"][i : i + 3].hex() for i in range(0, len(parts[b"PLTE"]), 3)]
    assert {"0072b2", "e69f00", "009e73", "ffffff"} <= set(palette)


def test_without_pillow_the_error_says_what_to_install(hostile: Drawing, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "PIL.Image", None)
    with pytest.raises(InputError, match=r"pip install 'sensegraph\[draw\]'.*--format svg"):
        render_png(compose_scene(hostile, 0))


def test_a_font_file_that_is_none_is_refused(tmp_path: Path, hostile: Drawing):
    pytest.importorskip("PIL")
    (tmp_path / "font.ttf").write_text("no font")
    with pytest.raises(InputError, match=r"font\.ttf cannot be read as a font"):
        render_png(compose_scene(hostile, 0), tmp_path / "font.ttf")


def test_letters_that_no_font_has_are_named():
    pytest.importorskip("PIL")
    picture = Scene(100, 50, "", (Text(5, 20, "ab \U0001f9ff", 12),))
    assert list_missing_characters(picture) == ["\U0001f9ff"]
    assert list_missing_characters(Scene(100, 50, "", (Text(5, 20, "ab", 12),))) == []


@settings(max_examples=5)
@given(st.text(min_size=1, max_size=20))
def test_any_name_can_be_drawn_in_every_format(name: str):
    made = lay_out_drawing(Graph((entity(0, 0, name),)), [(cluster(0, 0, range(1), name),)], name=name)
    ElementTree.fromstring(render_svg(compose_scene(made, 0)))
    data(render_html(made, (0,)))
    assert chunks(render_png(compose_scene(made, 0)))
