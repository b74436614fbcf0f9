"""How much of planted personal data is found, and what is taken for it that is not (R28).

    python bench/personal.py [--seed N] [--forms]               by kind, and with --forms by form, on the planted corpus
    python bench/personal.py --texts [--data DIR]               what is found in texts that were printed
    python bench/personal.py --names [--data DIR]               persons of ReDocRED's documents, which people marked
    python bench/personal.py --with scrubadub|datafog|presidio  another library on the planted corpus, where installed
    python bench/personal.py --checks                           check digits beside python-stdnum's, where installed

A thing counts as found when all its characters are covered, by whatever kind; a span is false when it touches nothing
that was planted. `person` is measured apart: its finder is the offline engine's.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from personal_corpus import KINDS, Planted, documents

Spans = list[tuple[str, int, int]]
Find = Callable[[str], Spans]


def ours(*people: str) -> Find:
    from sensegraph.corpus.privacy import find_people
    from sensegraph.personal.finding import build_finder
    from sensegraph.personal.masking import Masker
    from sensegraph.personal.personal_settings import RULED, PersonalSettings

    settings = PersonalSettings(kinds=(*RULED, *people))  # type: ignore[arg-type]
    masker = Masker(build_finder(settings))
    return lambda text: [(s.kind, s.start, s.end) for s in masker.found(text, find_people(text, settings))]


def scrubadub() -> Find:
    import scrubadub as library

    scrubber = library.Scrubber()
    return lambda text: [(f.type, f.beg, f.end) for f in scrubber.iter_filth(text)]


def datafog() -> Find:
    from datafog.processing.text_processing.regex_annotator.regex_annotator import RegexAnnotator

    annotator = RegexAnnotator()

    def find(text: str) -> Spans:
        _, result = annotator.annotate_with_spans(text)
        return [(s.label, s.start, s.end) for s in result.spans]

    return find


def presidio() -> Find:
    """Its recognisers by pattern for every country that it knows; its finder of names needs a model."""
    import spacy
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    class Blank(SpacyNlpEngine):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}

    registry = RecognizerRegistry()
    registry.load_predefined_recognizers()
    analyzer = AnalyzerEngine(nlp_engine=Blank(), registry=registry, supported_languages=["en"])
    left_out = {"URL", "DATE_TIME", "NRP", "LOCATION"}  # every address of a page, every date
    return lambda text: [
        (r.entity_type, r.start, r.end)
        for r in analyzer.analyze(text, language="en", score_threshold=0.3)
        if r.entity_type not in left_out
    ]


LIBRARIES = {"scrubadub": scrubadub, "datafog": datafog, "presidio": presidio}


# ── measuring ──


def covered(start: int, end: int, spans: Spans) -> bool:
    places = {i for _, a, b in spans for i in range(max(a, start), min(b, end))}
    return len(places) == end - start


def score(found: Sequence[tuple[Planted, Spans]], kinds: Sequence[str]) -> tuple[Counter[tuple[str, str]], ...]:
    """By kind and form: planted, found whole, of the right kind; by kind (form empty): false spans."""
    planted: Counter[tuple[str, str]] = Counter()
    whole: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    false: Counter[tuple[str, str]] = Counter()
    for made, spans in found:
        for item in made.items:
            if item.kind in kinds:
                place = (item.kind, item.form)
                planted[place] += 1
                whole[place] += covered(item.start, item.end, spans)
                mine = [s for s in spans if s[0] == item.kind]
                right[place] += covered(item.start, item.end, mine)
        for kind, a, b in spans:
            false[kind, ""] += all(b <= i.start or i.end <= a for i in made.items)
    return planted, whole, right, false


def table(found: Sequence[tuple[Planted, Spans]], kinds: Sequence[str], forms: bool) -> None:
    planted, whole, right, false = score(found, kinds)
    print(f"{'kind':<22} planted  found  kind too  false")
    for kind in kinds:
        places = [p for p in planted if p[0] == kind]
        _row(kind, places, planted, whole, right, str(false[kind, ""]))
        for place in sorted(places) * forms:
            _row(f"  {place[1]}", [place], planted, whole, right, "")
    others = sum(n for (kind, _), n in false.items() if kind not in kinds)
    _row("all", list(planted), planted, whole, right, str(sum(false.values())))
    spans = sum(len(s) for _, s in found)
    alike = sum(made.alike for made, _ in found)
    print(f"spans {spans}, of which true {100 * (1 - sum(false.values()) / max(1, spans)):.1f} %; {alike} look-alikes")
    if others:
        print("false by kind:", {k: n for (k, _), n in false.most_common() if n})


def _row(name: str, places: Sequence[tuple[str, str]], planted, whole, right, false: str) -> None:  # type: ignore[no-untyped-def]
    n = sum(planted[p] for p in places)
    share = [f"{100 * sum(c[p] for p in places) / max(1, n):5.1f}" for c in (whole, right)]
    print(f"{name:<22} {n:7} {share[0]:>6} {share[1]:>9} {false:>6}")


PRINTED = "carol podcast qmsum lihua-world 2wiki musique hotpotqa multihop-news xquad-en xquad-de mix".split()


def texts(data: Path) -> Iterator[tuple[str, list[str]]]:
    for name in PRINTED:
        if (data / name / "corpus.jsonl").exists():
            with (data / name / "corpus.jsonl").open(encoding="utf-8") as lines:
                yield name, [json.loads(line)["text"] for line in lines]


def printed(data: Path) -> None:
    """What is found in texts that were printed: how much, how fast, and what it is, to be judged by eye."""
    rules, everything = ours(), ours("person")
    for name, held in texts(data):
        started, counts, shown = time.process_time(), Counter[str](), defaultdict[str, dict[str, None]](dict)
        for text in held:
            for kind, a, b in rules(text):
                counts[kind] += 1
                shown[kind][" ".join(text[max(0, a - 12) : b + 4].split())] = None
        size, seconds = sum(map(len, held)) / 1e6, time.process_time() - started
        print(f"{name}: {size:.2f} MB, {size / seconds:.1f} MB a second of CPU; {dict(counts)}")
        for kind, examples in shown.items():
            print(f"  {kind}: " + " · ".join(list(examples)[:10]))
        if name in ("carol", "podcast"):
            started = time.process_time()
            people = sum(kind == "person" for text in held for kind, _, _ in everything(text))
            print(f"  with person: {people:,} names, {size / (time.process_time() - started):.2f} MB a second of CPU")


def names(data: Path, *kinds: str) -> None:
    """How many mentions of persons are covered, and how many spans taken for persons touch none."""
    find, count = ours(*kinds), Counter[str]()
    with (data / "redocred" / "docs.dev.jsonl").open(encoding="utf-8") as lines:
        for d in map(json.loads, lines):
            spans = [s for s in find(d["text"]) if s[0] == "person"]
            truth = [(m["start"], m["end"]) for e in d["entities"] if e["type"] == "PER" for m in e["mentions"]]
            count["true"] += len(truth)
            count["covered"] += sum(covered(a, b, spans) for a, b in truth)
            count["touched"] += sum(any(a < e and s < b for _, s, e in spans) for a, b in truth)
            count["spans"] += len(spans)
            count["false"] += sum(all(e <= a or b <= s for a, b in truth) for _, s, e in spans)
    print(
        f"{kinds[0]}: {count['true']:,} mentions of persons: {100 * count['covered'] / count['true']:.1f} % covered "
        f"whole, {100 * count['touched'] / count['true']:.1f} % at least in part; of {count['spans']:,} spans "
        f"{100 * count['false'] / count['spans']:.1f} % are no person"
    )


def checks(rounds: int = 20_000) -> None:
    """Numbers at random that our checks and python-stdnum's take: both, ours alone, theirs alone."""
    from importlib import import_module

    from sensegraph.personal import identities

    pairs = {
        "luhn": (identities.check_luhn, "d" * 16),
        "iban": (identities.check_iban, "DE" + "d" * 20),
        "gb.nhs": (identities.CHECKS["gb_health"], "d" * 10),
        "de.idnr": (identities.CHECKS["de_tax"], "d" * 11),
        "fr.nir": (identities.CHECKS["fr"], "1dd05" + "d" * 10),
        "es.dni": (identities.CHECKS["es"], "d" * 8 + "A"),
        "nl.bsn": (identities.CHECKS["nl"], "d" * 9),
        "pl.pesel": (identities.CHECKS["pl"], "dd05" + "1" + "d" * 6),
        "se.personnummer": (identities.CHECKS["se"], "dd05" + "1" + "d" * 5),
        "no.fodselsnummer": (identities.CHECKS["no"], "1d05" + "d" * 7),
        "ch.ssn": (identities.CHECKS["ch"], "756" + "d" * 10),
        "at.vnr": (identities.CHECKS["at"], "dddd1d05dd"),
        "cz.rc": (identities.CHECKS["cz"], "dd051ddddd"),
        "br.cpf": (identities.CHECKS["br"], "d" * 11),
        "cn.ric": (identities.CHECKS["cn"], "11010119dd051ddddd"),
        "in_.aadhaar": (identities.check_verhoeff, "4" + "d" * 11),
        "za.idnr": (identities.CHECKS["za"], "dd051ddddd0dd"),
        "tr.tckimlik": (identities.CHECKS["tr"], "1" + "d" * 10),
        "ca.sin": (identities.check_luhn, "4" + "d" * 8),
        "au.tfn": (identities.CHECKS["au"], "d" * 9),
        "jp.in_": (identities.CHECKS["jp"], "d" * 12),
        "be.nn": (identities.CHECKS["be"], "dd051d" + "d" * 5),
        "pt.nif": (identities.CHECKS["pt"], "1" + "d" * 8),
        "it.codicefiscale": (identities.CHECKS["it"], "RCCMNLddS1dD969A"),
    }
    made = random.Random(1)
    print(f"{'number':<18} both  ours alone  theirs alone")
    for name, (check, form) in pairs.items():
        theirs = import_module(f"stdnum.{name}").is_valid
        both = mine = other = 0
        for _ in range(rounds):
            number = "".join(made.choice("0123456789") if c == "d" else c for c in form)
            a, b = check(number), theirs(number)
            both, mine, other = both + (a and b), mine + (a and not b), other + (b and not a)
        print(f"{name:<18} {both:4}  {mine:10}  {other:12}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--documents", type=int, default=600)
    parser.add_argument("--forms", action="store_true")
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--with", dest="library", choices=sorted(LIBRARIES))
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SENSEGRAPH_DATA", "../shared/data")))
    given = parser.parse_args()
    if given.checks:
        checks()
        return
    if given.names:
        names(given.data, "person")
        names(given.data, "name")
        return
    if given.texts:
        printed(given.data)
        return
    made = list(documents(given.seed, given.documents))
    runs = (
        [(given.library, LIBRARIES[given.library]())]
        if given.library
        else [("rules", ours()), ("with person", ours("person"))]
    )
    for name, find in runs:
        started = time.process_time()
        found = [(d, find(d.text)) for d in made]
        size, seconds = sum(len(d.text) for d in made) / 1e6, time.process_time() - started
        print(f"\n{name}: {len(made)} documents, {size:.2f} MB in {seconds:.1f} s of CPU")
        kinds = [k for k in KINDS if k != "person" or name != "rules"]
        table(found, kinds, given.forms)


if __name__ == "__main__":
    sys.exit(main())
