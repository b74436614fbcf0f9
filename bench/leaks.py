"""What is masked of planted identifiers and names, English and German, also where writing hides or lines break them.

    python bench/leaks.py [--seed N] [--lists held|tuned] [--forms] [--missed] [--names]

For each language: recall (all letters and digits of a thing are covered) and precision (a span touches something that
was planted) by kind, recall by bypass and in wrapped text, and names that are left in the names of files, in the store
of a corpus and in its citations. `tuned` are the sentences and names that were open while the rules were written,
`held` those that were not. All kinds are looked for but `name`, which `--names` adds.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

from leak_corpus import LISTS, LeakText, make_leak_texts


def plain(text: str) -> str:
    """Letters and digits alone, in small letters without marks, to look for a name in any way of writing."""
    text = unicodedata.normalize("NFKD", unquote(text)).casefold()
    return "".join(c for c in text if c.isalnum())


def measure(texts: list[LeakText], kinds: tuple[str, ...], *, forms: bool, missed: bool) -> None:
    from sensegraph.corpus.privacy import find_people
    from sensegraph.personal.finding import build_finder
    from sensegraph.personal.masking import Masker
    from sensegraph.personal.personal_settings import PersonalSettings

    settings = PersonalSettings(kinds=kinds)  # type: ignore[arg-type]
    masker = Masker(build_finder(settings), b"x" * 32)
    planted, whole, spans_of, true = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    started = time.process_time()
    for made in texts:
        spans = masker.found(made.text, find_people(made.text, settings))
        covered = {i for s in spans for i in range(s.start, s.end)}
        for item in made.items:
            hit = all(i in covered for i in range(item.start, item.end) if made.text[i].isalnum())
            broken = "\n" in made.text[item.start : item.end]
            written = item.bypass or ("no bypass, in wrapped text" if "\n" in made.text else "no bypass, in one line")
            group = "names" if item.kind == "person" else "numbers and addresses"
            places = [item.kind, group, written, *["broken over a line"] * broken]
            places += [f"  {item.form}"] * (forms and item.kind == "identity")
            planted.update(places)
            whole.update(places if hit else [])
            if missed and not hit:
                print(
                    f"missed {item.kind} ({item.bypass or '-'}): {made.text[max(0, item.start - 25) : item.end + 20]!r}"
                )
        for s in spans:
            spans_of[s.kind] += 1
            hit = any(i.start < s.end and s.start < i.end for i in made.items)
            true[s.kind] += hit
            if missed and not hit:
                print(
                    f"false {s.kind}: {made.text[max(0, s.start - 15) : s.end + 10]!r} {made.text[s.start : s.end]!r}"
                )
    seconds = time.process_time() - started
    print(f"{'':<30} planted  recall  spans  precision")
    kept = ("numbers and addresses", "names")
    rest = sorted(p for p in planted if p not in kept)
    for place in (*kept, *rest):
        found, right = spans_of.get(place, 0), true.get(place, 0)
        share = f"{found:6}  {100 * right / found:7.1f} %" if found else ""
        print(f"{place:<30} {planted[place]:7} {100 * whole[place] / planted[place]:5.1f} % {share}")
    n, hidden = sum(planted[k] for k in kept), sum(bool(i.bypass) for t in texts for i in t.items)
    precision = 100 * sum(true.values()) / max(1, sum(spans_of.values()))
    recall = 100 * sum(whole[k] for k in kept) / n
    print(f"{'all':<30} {n:7} {recall:5.1f} % {sum(spans_of.values()):6}  {precision:7.1f} %")
    size = sum(len(t.text) for t in texts) / 1e6
    print(
        f"{hidden} of {n} with a bypass, {sum(chr(10) in t.text for t in texts)} of {len(texts)} texts wrapped; "
        f"{size / seconds:.2f} MB a second of CPU"
    )


def measure_files(texts: list[LeakText], kinds: tuple[str, ...], asked: str) -> None:
    """Names left in ids and titles, in the store, and in the citations of a corpus that was made of the files."""
    from sensegraph import Corpus, Document

    kept = words = 0
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "files"
        for made in texts[:40]:
            path = files / (re.sub(r"\.\w+$", ".txt", made.name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made.text, "utf-8")
        settings = {"personal": {"mask": "mask", "kinds": list(kinds)}}
        with Corpus.open(Path(folder) / "corpus", settings=settings) as corpus:
            corpus.add(*(Document(made.name, made.text, Path(made.name).stem) for made in texts[40:]))
            corpus.add(files)
            documents = list(corpus.documents())
            corpus.build()
            answer = corpus.query(asked)
            cited = " ".join(str(c) for c in answer.citations)
        shown = {number[0]: f"{d.id} {d.title}" for d in documents if (number := re.search(r"text\d{3}(?=/)", d.id))}
        for made in texts:
            left = plain(shown[made.name[:7]])
            kept += any(plain(w) in left for w in made.named if len(w) > 2)
            words += 1
        stored = b"".join(p.read_bytes() for p in (Path(folder) / "corpus").rglob("*") if p.is_file()).decode("latin-1")
        paths = [re.sub(r"\.\w+$", "", made.name) for made in texts]
    in_store = sum(path in stored for path in paths)
    in_cited = sum(any(len(w) > 3 and w.casefold() in cited.casefold() for w in made.named) for made in texts)
    print(
        f"names of files: {kept} of {words} hold a name still; {in_store} stand in the store; "
        f"{in_cited} in the citations of an answer ({len(answer.citations)})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=24)
    parser.add_argument("--lists", choices=("held", "tuned"), nargs="*", default=("tuned", "held"))
    parser.add_argument("--forms", action="store_true")
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--no-files", action="store_true")
    given = parser.parse_args()
    from sensegraph.personal.personal_settings import RULED

    kinds = (*RULED, "person", *["name"] * given.names)
    for lists in given.lists:
        for language in ("en", "de"):
            texts = make_leak_texts(given.seed, language, lists)
            print(f"\n{language}, {lists}: {len(texts)} texts")
            measure(texts, kinds, forms=given.forms, missed=given.missed)
            if not given.no_files:
                measure_files(texts, kinds, LISTS[lists][language]["asked"])


if __name__ == "__main__":
    sys.exit(main())
