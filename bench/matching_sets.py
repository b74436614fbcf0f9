"""Lists of names of six kinds in two tables each, with their true matches: made, not collected.

    python bench/matching_sets.py OUT [--seed 1]        writes OUT/KIND/left.csv, right.csv, matches.csv

Each thing is written once for each table, by the habits of that table: software (vendor on one side, editions and
versions left out or abbreviated, marketing tails, numbers of articles, platforms), electronics (model numbers on one
side or written otherwise, colours, sizes, packs, bundles, accessories that name what they fit), films (years, articles
behind, subtitles, titles in another language), people (initials, nicknames, order, titles, accents, slips), places
(regions, abbreviations, exonyms, kinds of place) and organisations (legal forms, acronyms, abbreviations, order). Most
near candidates are no matches: other versions and editions, other numbers of a series, sequels and remakes, relatives,
one name in two regions, firms of one group. A part of the things stands in one table only.
"""

from __future__ import annotations

import argparse
import csv
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

WORDS = tomllib.loads((Path(__file__).parent / "matching-words.toml").read_text())
Writer = Callable[["Drawing", dict[str, str]], str]


@dataclass(frozen=True)
class Tables:
    """Two lists of names, and the pairs of their positions that are one thing."""

    left: list[str] = field(default_factory=list)
    right: list[str] = field(default_factory=list)
    matches: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Drawing:
    """Chance, and what is done to names by it."""

    rng: Random

    def often(self, share: float) -> bool:
        return self.rng.random() < share

    def one(self, of: Sequence[str]) -> str:
        return self.rng.choice(of)

    def slip(self, text: str, share: float) -> str:
        """Two letters in the inside of a word exchanged, one left out, or one doubled, in `share` of the texts."""
        places = [i for i in range(1, len(text) - 2) if text[i - 1 : i + 2].isalpha()]
        if not places or not self.often(share):
            return text
        i = self.rng.choice(places)
        return self.one((text[:i] + text[i + 1] + text[i] + text[i + 2 :], text[:i] + text[i + 1 :],
                         text[: i + 1] + text[i:]))  # fmt: skip

    def shorten(self, text: str, table: dict[str, str], share: float) -> str:
        for long, short in table.items():
            if self.often(share):
                text = f" {text} ".replace(f" {long} ", f" {short} ").strip()
        return text

    def drop(self, text: str, share: float) -> str:
        """Without one of its words after the first, in `share` of the texts of four words or more."""
        words = text.split()
        if len(words) >= 4 and self.often(share):
            words.pop(self.rng.randrange(1, len(words)))
        return " ".join(words)


def tidy_name(name: str) -> str:
    """Without the blanks and commas that what is left out leaves behind."""
    name = " ".join(name.split()).replace(" ,", ",").replace(",,", ",").replace(" )", ")").replace("()", "")
    return name.strip(" ,:-")


def list_things(draw: Drawing, things: list[dict[str, str]], writers: tuple[Writer, Writer],
                shares: tuple[float, float, float] = (0.62, 0.75, 0.06)) -> Tables:  # fmt: skip
    """Both tables of the things: in the left with the first share, in the right with the second, and twice there."""
    rows: tuple[list[tuple[int, str]], list[tuple[int, str]]] = ([], [])
    for number, thing in enumerate(things):
        times = (int(draw.often(shares[0])), int(draw.often(shares[1])) * (1 + int(draw.often(shares[2]))))
        for side, write, count in zip(rows, writers, times, strict=True):
            side.extend((number, tidy_name(write(draw, thing))) for _ in range(count))
    for side in rows:
        draw.rng.shuffle(side)
    at: dict[int, list[int]] = {}
    for place, (number, _) in enumerate(rows[1]):
        at.setdefault(number, []).append(place)
    matches = [(i, j) for i, (number, _) in enumerate(rows[0]) for j in at.get(number, ())]
    return Tables([name for _, name in rows[0]], [name for _, name in rows[1]], matches)


# ── software ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def draw_software(draw: Drawing) -> Tables:
    words, films = WORDS["software"], WORDS["films"]
    families = [(v.strip(), f.strip()) for line in words["families"] for v, _, fs in [line.partition("|")]
                for f in fs.split(",")]  # fmt: skip
    vendors = sorted({v for v, _ in families})
    makers = ("studio", "maker", "tutor", "manager", "adventure", "creator", "3d", "tycoon", "suite", "")
    families += [
        (draw.one(vendors), " ".join((draw.one(films["adjectives"]), draw.one(films["nouns"]), draw.one(makers))))
        for _ in range(420)
    ]
    things = []
    for vendor, family in families:
        style, first = draw.one(("n", "n.0", "year", "none", "none", "cs")), draw.rng.randrange(1, 11)
        kind, seen = draw.one(words["kind"]), set()
        editions = ["", *draw.rng.sample(words["editions"], 3)] if draw.often(0.6) else [""]
        for _ in range(draw.rng.choice((1, 1, 2, 3, 4, 6))):
            number = first + draw.rng.randrange(3)
            version = {"n": f"{number}", "n.0": f"{number}.{draw.one('0005')}", "year": f"{1998 + number}",
                       "cs": f"cs{number % 4 + 1}", "none": ""}[style]  # fmt: skip
            made = (version, draw.one(editions), draw.one(words["extra"]) if draw.often(0.2) else "")
            if made not in seen:
                seen.add(made)
                things.append(dict(zip(("version", "edition", "extra"), made, strict=True), vendor=vendor,
                                   family=family, kind=kind, mac="mac" if draw.often(0.12) else ""))  # fmt: skip
    return list_things(draw, things, (_sold_software, _offered_software), (0.5, 0.85, 0.12))


def _sold_software(draw: Drawing, t: dict[str, str]) -> str:
    words = WORDS["software"]
    parts = [t["vendor"] if draw.often(0.3) else "", t["family"]]
    rest = [t["version"], t["edition"]]
    parts += rest if draw.often(0.6) else rest[::-1]
    parts += [t["extra"], draw.one(words["pack"]) if draw.often(0.25) else f"({t['mac']})" * bool(t["mac"])]
    if draw.often(0.15):
        parts.insert(2, draw.one((":", "-")) + " " + t["kind"])
    return draw.slip(" ".join(parts), 0.02)


def _offered_software(draw: Drawing, t: dict[str, str]) -> str:
    words = WORDS["software"]
    vendor = t["vendor"] if draw.often(0.75) else draw.one(("", "", "encore", "topics", "digital river", "nova"))
    version = t["version"] if draw.often(0.8) else ""
    if version and draw.often(0.2):
        version = f"v{version}" if not version.startswith("cs") else version.replace("cs", "cs ")
    elif version.endswith(".0") and draw.often(0.5):
        version = version[:-2]
    edition = t["edition"] if draw.often(0.85) else ""
    if edition and draw.often(0.35):
        edition += " edition"
    family = draw.drop(t["family"], 0.12)
    front = [family, edition, version] if draw.often(0.4) else [family, version, edition]
    extra = t["extra"] if draw.often(0.85) else ""
    parts = [extra, ":", *front] if extra and draw.often(0.2) else [*front, extra]
    article = f"{draw.rng.randrange(1000, 99999)}" if draw.often(0.7) else f"{draw.one('abdhmrst')}" + (
        f"{draw.rng.randrange(10, 99)}{draw.one('abdhkmpst')}-{draw.rng.randrange(100, 9999)}")  # fmt: skip
    if draw.often(0.22):
        parts = [article, draw.one(("", "-")), *parts]
    parts = [
        vendor,
        draw.one(("inc", "software", "incorporated", "llc")) if vendor and draw.often(0.12) else "",
        *parts,
    ]
    if draw.often(0.25):
        parts.append(t["kind"])
    if t["mac"] and draw.often(0.85):
        parts.append(draw.one(("for mac", "mac", "(mac)", "mac os x", "macintosh")))
    if draw.often(0.42):
        parts.append(draw.one(words["tail"]))
    return draw.slip(draw.shorten(" ".join(parts), words["short"], 0.3), 0.03)


# ── electronics ──────────────────────────────────────────────────────────────────────────────────────────────────────


def draw_electronics(draw: Drawing) -> Tables:
    words, things = WORDS["electronics"], list[dict[str, str]]()
    letters = "abcdefghklmnprstvwx"
    for _ in range(420):
        noun, said = (part.strip() for part in draw.one(words["things"]).split("|"))
        brand, series = draw.one(words["brands"]), draw.one(words["series"]) if draw.often(0.5) else ""
        stem = "".join(draw.one(letters) for _ in range(draw.rng.randrange(1, 4)))
        number, size = draw.rng.randrange(10, 9999), draw.rng.randrange(1, 32)
        described = ", ".join(draw.rng.sample(said.split(", "), 2))
        unit = "gb" if "memory" in noun or "drive" in noun else "ft" if "cable" in noun else "inch" * draw.often(0.4)
        fits = f"{draw.one(words['brands'])} {draw.one(letters)}{draw.rng.randrange(10, 990)}"
        coloured, packs = draw.often(0.45), draw.often(0.15)
        for _ in range(draw.rng.choice((1, 2, 3, 4))):
            number += draw.rng.choice((0, 1, 1, 5, 10, 100))
            size = size * 2 if unit == "gb" else size + draw.rng.choice((0, 1, 3, 5))
            things.append({
                "brand": brand, "noun": noun, "said": described, "series": series,
                "model": f"{stem}{number}{draw.one(letters) if coloured else ''}",
                "size": f"{size} {unit}" if unit else "", "colour": draw.one(words["colours"]) if coloured else "",
                "pack": f"{draw.rng.choice((2, 3, 5, 10))}-pack" if packs and draw.often(0.6) else "",
                "fits": fits if any(w in noun for w in ("case", "cartridge", "battery", "sleeve")) else "",
            })  # fmt: skip
    return list_things(draw, things, (_walled_thing, _shipped_thing), (0.55, 0.8, 0.05))


def _walled_thing(draw: Drawing, t: dict[str, str]) -> str:
    size = t["size"].replace(" ", "-") if draw.often(0.5) else t["size"]
    said = t["said"].split(", ")[0] if draw.often(0.6) else t["said"]
    parts = [t["brand"], t["series"], t["model"] if draw.often(0.55) else "", said, size, t["noun"]]
    parts += [f"for {t['fits']}" if t["fits"] and draw.often(0.6) else ""]
    parts += [t["pack"], f", {t['colour']}" if t["colour"] and draw.often(0.7) else ""]
    return " ".join([*parts, draw.one(WORDS["electronics"]["bundle"]) if draw.often(0.06) else ""])


def _shipped_thing(draw: Drawing, t: dict[str, str]) -> str:
    words = WORDS["electronics"]
    model = t["model"].upper()
    if draw.often(0.3):
        cut = next(i for i, c in enumerate(model) if c.isdigit())
        model = f"{model[:cut]}-{model[cut:]}"
    article = f"{draw.rng.randrange(10, 999)}-{draw.rng.randrange(1000, 99999)}-{draw.rng.randrange(10, 99)}"
    model = (model if draw.often(0.82) else article) if draw.often(0.75) else ""
    size = t["size"].replace(" inch", '"').replace(" ft", draw.one(("'", " feet", "-foot"))).replace(" gb", "GB")
    colour = f"{t['colour']} " if t["colour"] and draw.often(0.75) else ""
    said = t["said"].split(", ")
    draw.rng.shuffle(said)
    brand = t["brand"] if draw.often(0.88) else ""
    parts = [brand, t["series"] if draw.often(0.8) else "", size if draw.often(0.8) else "", *said, t["noun"]]
    parts += [f"for {t['fits']} {draw.one(('', 'series', 'and others'))}" if t["fits"] and draw.often(0.6) else ""]
    parts.insert(1 if draw.often(0.5) else len(parts), model)
    parts += [t["pack"].replace("-", draw.one((" ", "-", "/"))) if draw.often(0.8) else ""]
    parts += [draw.one((f"({colour})", f"- {colour}")) if colour else ""]
    return draw.drop(" ".join([*parts, draw.one(words["tail"]) if draw.often(0.25) else ""]), 0.25).title()


# ── films ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def draw_films(draw: Drawing) -> Tables:
    words, things = WORDS["films"], list[dict[str, str]]()
    for _ in range(620):
        style = draw.rng.random()
        a, n, m = draw.one(words["adjectives"]), draw.one(words["nouns"]), draw.one(words["nouns"])
        title = (f"the {a} {n}" if style < 0.3 else f"{n} of the {m}" if style < 0.42 else f"{a} {n}" if style < 0.55
                 else f"the {n}" if style < 0.65 else draw.one(words["heroes"]) if style < 0.75
                 else f"{draw.one(words['heroes'])} and the {a} {n}" if style < 0.87 else f"a {n} in {m}")  # fmt: skip
        year, original = 1925 + draw.rng.randrange(92), ""
        if draw.often(0.09):
            original = f"{draw.one(words['foreign'])} {draw.one(words['foreign_tails'])}"
        for part in range(draw.rng.choice((1, 1, 1, 1, 2, 3))):
            subtitle = draw.one(words["subtitles"]) if draw.often(0.15 if not part else 0.6) else ""
            number = str(part + 1) if part else ""
            things.append({"title": title, "number": number, "subtitle": subtitle, "year": str(year),
                           "original": original if not part else ""})  # fmt: skip
            year += draw.rng.randrange(1, 6)
        if draw.often(0.1):  # made again
            things.append(dict(things[-1], year=str(min(2018, year + draw.rng.randrange(8, 40)))))
    return list_things(draw, things, (_reeled_film, _streamed_film), (0.7, 0.75, 0.01))


def _reeled_film(draw: Drawing, t: dict[str, str]) -> str:
    title = " ".join((t["title"], t["number"])) + (f": {t['subtitle']}" if t["subtitle"] else "")
    return f"{title.title()} ({t['year']})"


def _streamed_film(draw: Drawing, t: dict[str, str]) -> str:
    number = t["number"]
    if number and draw.often(0.5):
        number = draw.one((f"part {number}", {"2": "ii", "3": "iii"}[number].upper(), f"vol. {number}"))
    title = t["original"] if t["original"] and draw.often(0.45) else t["title"]
    if title == t["title"] and draw.often(0.12):
        first, _, rest = title.partition(" ")
        title = f"{rest}, {first}" if first in ("the", "a") else title
    if t["original"] and title == t["title"] and draw.often(0.4):
        title += f" ({t['original']})"
    subtitle = t["subtitle"] if draw.often(0.8) else ""
    title = " ".join((title, number)) + (draw.one((": ", " - ")) + subtitle if subtitle else "")
    title = draw.slip(title.replace(" and ", draw.one((" and ", " & "))), 0.03).title()
    title = title.replace(" Iii", " III").replace(" Ii", " II")
    year = f" ({int(t['year']) + (draw.rng.choice((-1, 1)) if draw.often(0.06) else 0)})" if draw.often(0.7) else ""
    return f"{title}{year} {draw.one(WORDS['films']['tags']) if draw.often(0.06) else ''}"


# ── people, places, organisations ────────────────────────────────────────────────────────────────────────────────────


def draw_people(draw: Drawing) -> Tables:
    words, things = WORDS["people"], list[dict[str, str]]()
    for _ in range(720):
        given = draw.one(words["given"]).partition(":")[0]
        second = draw.one(words["given"]).partition(":")[0] if draw.often(0.5) else ""
        family = draw.one(words["family"])
        if draw.often(0.06):
            family += f"-{draw.one(words['family'])}"
        things.append({"given": given, "second": second, "family": family, "after": ""})
        if draw.often(0.08):  # a child of the same name
            things.append(dict(things[-1], after="jr."))
        if draw.often(0.3):  # a relative
            things.append(dict(things[-1], given=draw.one(words["given"]).partition(":")[0], after=""))
    return list_things(draw, things, (_registered_person, _signed_person), (0.7, 0.7, 0.02))


def _registered_person(draw: Drawing, t: dict[str, str]) -> str:
    second = t["second"] if draw.often(0.45) else f"{t['second'][:1]}." * bool(t["second"])
    first = f"{t['given']} {second}".strip().title()
    after = f", {t['after'].title()}" if t["after"] else ""
    return f"{t['family'].title()}, {first}{after}" if draw.often(0.3) else f"{first} {t['family'].title()}{after}"


def _signed_person(draw: Drawing, t: dict[str, str]) -> str:
    words = WORDS["people"]
    others = next(line.partition(":")[2] for line in words["given"] if line.partition(":")[0] == t["given"])
    first = draw.one(others.split(",")) if others and draw.often(0.2) else t["given"]
    if draw.often(0.12):
        first = f"{t['given'][0]}."
    second = {0: "", 1: f"{t['second'][:1]}." * bool(t["second"]), 2: t["second"]}[draw.rng.choice((0, 0, 1, 1, 2))]
    family = t["family"].split("-")[0] if "-" in t["family"] and draw.often(0.3) else t["family"]
    name = f"{first} {second} {family}".title()
    if draw.often(0.1):
        name = f"{family} {first} {second}".title()
    if draw.often(0.15):
        name = f"{draw.one(words['titles'])} {name}"
    name = f"{name} {t['after'].title()}" if t["after"] and draw.often(0.8) else name
    name = f"{name}, {draw.one(words['degrees'])}" if draw.often(0.06) else name
    if draw.often(0.4):
        name = name.translate(str.maketrans("áéíóúñçüöäøåščřýžè", "aeiounçuoaoascryze"))
    return draw.slip(name.upper() if draw.often(0.06) else name, 0.06)


def draw_places(draw: Drawing) -> Tables:
    words, things = WORDS["places"], list[dict[str, str]]()
    for number in range(560):
        name, other = f"{draw.one(words['stems'])}{draw.one(words['ends'])}", ""
        if draw.often(0.2):
            name = f"saint {draw.one(words['patrons'])}"
        elif draw.often(0.15):
            name = f"{draw.one(('upper', 'lower', 'north', 'south', 'west', 'new', 'old', 'little'))} {name}"
        if number < len(words["exonyms"]):
            name, _, other = words["exonyms"][number].partition(":")
        elif draw.often(0.06):
            other, name = name, f"{name} {draw.one(words['beside'])}"
        for region in draw.rng.sample(words["regions"], 1 if other else draw.rng.choice((1, 2, 3))):
            full, _, code = region.partition(":")
            things.append({"name": name, "other": other, "region": full, "code": code, "kind": "{}"})
            if draw.often(0.35):
                things.append(dict(things[-1], kind=draw.one(words["kinds"]), other=""))
    return list_things(draw, things, (_mapped_place, _addressed_place), (0.65, 0.7, 0.02))


def _mapped_place(draw: Drawing, t: dict[str, str]) -> str:
    return f"{t['kind'].format(t['name'])}, {t['region']}".title()


def _addressed_place(draw: Drawing, t: dict[str, str]) -> str:
    name = t["other"] if t["other"] and draw.often(0.5) else t["name"]
    name = t["kind"].format(name)
    short = {"saint": "st.", "mount": "mt.", "fort": "ft.", "county": "co.", "township": "twp", "north": "n.",
             "south": "s.", "heights": "hts", "airport": "apt", "station": "stn", "lake": "lk"}  # fmt: skip
    name = draw.shorten(name, short, 0.3)
    region = t["code"].upper() if t["code"] and draw.often(0.6) else t["region"].title()
    country = draw.one(("", "", "", ", USA", ", United States")) if len(t["code"]) == 2 else ""
    behind = f"{draw.one((', ', ', ', ' (', ' '))}{region}" if draw.often(0.8) else ""
    behind += ")" if "(" in behind else ""
    return draw.slip(name.title(), 0.05) + behind + (country if behind and "(" not in behind else "")


def draw_organisations(draw: Drawing) -> Tables:
    words, things = WORDS["organisations"], list[dict[str, str]]()
    for _ in range(360):
        head, form = draw.one(words["heads"]), draw.one(words["forms"])
        if draw.often(0.25):
            head += f" {draw.one(('&', 'and', ''))} {draw.one(words['heads'])}"
        for fields in draw.rng.sample(words["fields"], draw.rng.choice((1, 1, 2, 3))):
            place = draw.one(words["cities"]) if draw.often(0.15) else ""
            things.append({"name": f"{head} {fields}", "form": form, "place": place})
    for _ in range(420):
        named = draw.one(words["bodies"])
        things.append({"name": named.format(city=draw.one(words["cities"]), subject=draw.one(words["subjects"])),
                       "form": "", "place": draw.one(words["cities"]) if draw.often(0.12) else ""})  # fmt: skip
    distinct = {(t["name"], t["place"]): t for t in things}
    return list_things(draw, list(distinct.values()), (_chartered_body, _cited_body), (0.7, 0.72, 0.02))


def _chartered_body(draw: Drawing, t: dict[str, str]) -> str:
    name = f"{t['name']} {t['place']}".title().replace(" Of ", " of ").replace(" For ", " for ")
    return f"{name}{draw.one((' ', ', '))}{t['form'].upper() if len(t['form']) < 4 else t['form'].title()}"


def _cited_body(draw: Drawing, t: dict[str, str]) -> str:
    words, name = WORDS["organisations"], t["name"]
    chosen = [w for w in name.split() if w not in ("of", "for", "the", "&", "and")]
    if len(chosen) >= 3 and draw.often(0.07):
        return "".join(w[0] for w in chosen).upper()
    if name.startswith("university of ") and draw.often(0.3):
        name = f"{name.removeprefix('university of ')} university"
    name = draw.shorten(name, words["short"], 0.25).replace("&", draw.one(("&", "and")))
    if draw.often(0.12):
        name = draw.drop(name, 1.0)
    form = t["form"] if draw.often(0.5) else draw.one(words["forms"]) if t["form"] and draw.often(0.2) else ""
    place = draw.one((", {}", " ({})", " {}")).format(t["place"]) if t["place"] and draw.often(0.6) else ""
    name = draw.slip(f"{'the ' if draw.often(0.1) else ''}{name}{place}", 0.05)
    name = name.upper() if draw.often(0.08) else name.title()
    return f"{name} {form.title()}" + (", USA" if draw.often(0.03) else "")


KINDS: dict[str, Callable[[Drawing], Tables]] = {
    "software": draw_software, "electronics": draw_electronics, "films": draw_films, "people": draw_people,
    "places": draw_places, "organisations": draw_organisations,
}  # fmt: skip


def make_set(kind: str, seed: int = 1) -> Tables:
    """The tables of one kind; equal seeds give equal tables."""
    return KINDS[kind](Drawing(Random(f"{kind} {seed}")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    for kind in KINDS:
        made, folder = make_set(kind, args.seed), args.out / kind
        folder.mkdir(parents=True, exist_ok=True)
        for side, header, rows in (
            ("left", ("id", "name"), list(enumerate(made.left))),
            ("right", ("id", "name"), list(enumerate(made.right))),
            ("matches", ("left_id", "right_id"), made.matches),
        ):
            with (folder / f"{side}.csv").open("w", newline="") as file:
                csv.writer(file).writerows((header, *rows))
        print(f"{kind:<14} {len(made.left):>5} {len(made.right):>5} {len(made.matches):>5}")


if __name__ == "__main__":
    main()
