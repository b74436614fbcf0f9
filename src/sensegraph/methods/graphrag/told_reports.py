"""Answers from reports that somebody else wrote: those of an imported index, or of a model that is not asked now.

An engine that quotes shows sentences of the sources. Of such reports it would find few that bear on a question about
the whole: what they say stands in no source word for word. So the reports speak here, marked as what they are, and
each of their sentences leads to the spans that it names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import log
from string import capwords

from sensegraph.answering.asking import for_quoting, gather_evidence
from sensegraph.index.hierarchy.packing import report_passage
from sensegraph.index.index import Index
from sensegraph.index.passages import Teller, answer_from_draft
from sensegraph.language.sentences import split_sentences
from sensegraph.language.text import list_stems
from sensegraph.language.word_lists import read_words
from sensegraph.runtime.runtime import Runtime
from sensegraph.types import Answer, Cluster, Draft, Entity, Passage, Question, Source, Statement

NOTE = (
    "the reports and descriptions of this index are prose that somebody else wrote (it was imported, or a model made "
    "it): they are told as they stand, and the citations lead to the passages that they name"
)
_HEAD = (
    "From the index’s reports, which somebody else wrote (no quotations; the numbers lead to the passages they name):"
)
_MOST, _OF_ONE = 6, 2  # findings of an answer, and of one report
_OPENED = 3  # findings below which the summary of the best report opens the answer
_SENTENCES = 2  # of a finding
_SPANS = 2  # cited for a sentence
_HEADLINE = 2.0  # what a word of the question counts there besides
_PRIOR = 0.5  # of a finding's worth, whatever the rating and the size of its report
_ALIKE = 0.5  # share of stems from which two findings say the same
_LISTED = 8  # entities of a kind
_LEAST = 0.35  # of the question's words, by weight, that the best finding must hold
_ASKING = frozenset(read_words("words/asking"))
# words of a question about the whole that stand in any report
_GENERIC = frozenset(
    "story book text tale narrative corpus document main major key central important overall group connected bring "
    "course happen occur take come make give way play portray show work".split()
)
_KINDS: Mapping[str, tuple[str, ...]] = {
    "place": ("geo", "location", "place"),
    "locat": ("geo", "location", "place"),
    "charact": ("person",),
    "peopl": ("person",),
    "person": ("person",),
    "organ": ("organization", "organisation"),
    "event": ("event",),
}  # stems of a question, and the types of entities that it then asks for


@dataclass(frozen=True, slots=True)
class ToldSentence:
    """A sentence of a report with the spans that it names, and its stems."""

    text: str
    sources: tuple[Source, ...]
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class ToldFinding:
    """A finding of a report: the report, the headline, and the sentences below it; without one it is the summary."""

    cluster: Cluster
    headline: str
    sentences: tuple[ToldSentence, ...]
    heading_stems: frozenset[str]
    stems: frozenset[str]


def answer_from_told_reports(
    question: Question, clusters: Sequence[Cluster], index: Index, rt: Runtime
) -> Answer | None:
    """An answer of what these reports say; None for an engine that writes, and where the reports are quotations.

    None too where no report bears on the question.
    """
    told = for_quoting(rt, lambda: [c for c in clusters if c.findings and not index.manifest.quoted])
    if not told:
        return None
    stems = frozenset(list_stems(question.text)) - _stems_of(_GENERIC)
    kinds = {t for stem in stems for t in _KINDS.get(stem, ())}
    listed = list_entities_of_kinds(index, kinds)
    content = stems - _stems_of(_ASKING) - _KINDS.keys()
    wanted = content or (frozenset() if listed else stems - _KINDS.keys())  # of the main themes: what speaks of themes
    findings = [f for c in told for f in list_findings(c)]
    chosen, weights = choose_findings(findings, wanted, frozenset(e.id for e in listed))
    if not chosen:
        return None
    statements = [Statement(f"{_HEAD}\n\n")]
    statements += tell_entities(listed)
    if len(chosen) < _OPENED and not listed:
        statements += tell_summary(chosen[0].cluster, weights)
    for finding in chosen:
        statements += tell_finding(finding, weights)
    passages = [report_passage(c) for c in dict.fromkeys(f.cluster for f in chosen)]
    passages += [Passage("entity", e.id, e.description, title=e.name) for e in listed]
    evidence = gather_evidence(passages, index, notes=(f"{len(chosen)} findings of {len(told)} reports", NOTE))
    draft = Draft(tuple(statements))
    if rt.hear:
        teller = Teller(evidence.passages, index, rt.hear)
        for statement in draft.statements:
            teller.tell(statement)
    return answer_from_draft(draft, evidence, index)


def list_findings(cluster: Cluster) -> list[ToldFinding]:
    """The findings of a report, with the words of the headline and of all of it."""
    title = frozenset(list_stems(cluster.title))
    found = []
    for finding in cluster.findings:
        sentences = _split_statements(finding.statements)
        if sentences:
            heading = frozenset(list_stems(finding.summary))
            every = heading | title | {s for told in sentences for s in told.stems}
            found.append(ToldFinding(cluster, finding.summary.strip(), sentences, heading, frozenset(every)))
    return found


def choose_findings(
    findings: Sequence[ToldFinding], wanted: frozenset[str], listed: frozenset[str] = frozenset()
) -> tuple[list[ToldFinding], dict[str, float]]:
    """The findings that bear most on the wanted words, best first, none that repeats another; with the words' weights.

    Reports that are rated high, and on many entities, weigh more; of `listed` entities those that are on most of them.
    Without wanted words this alone decides, and of each report there is one finding. There is none where the best
    ones hold too few of the words.
    """
    counts = Counter(stem for f in findings for stem in f.stems & wanted)
    weights = {s: log(1 + len(findings) / counts[s]) for s in sorted(wanted) if counts[s]}
    size = max([1, *(len(f.cluster.entities) for f in findings)])
    ranked: list[tuple[float, float, int, ToldFinding]] = []
    for place, finding in enumerate(findings):
        held = {s: w for s, w in weights.items() if s in finding.stems}
        share = sum(held.values()) / sum(weights.values()) if weights else 1.0
        worth = share * sum(w * (1 + _HEADLINE * (s in finding.heading_stems)) for s, w in held.items()) or 1.0
        members = finding.cluster.entities
        spread = log(1 + len(members)) / log(1 + size)
        weight = finding.cluster.rating / 10 * (1 + spread) / 2
        shown = len(listed.intersection(members)) / max(1, len(listed))
        worth = worth * (_PRIOR + weight + shown) if share and (shown or not listed) else 0.0
        ranked.append((worth, share, place, finding))
    ranked.sort(key=lambda row: (-row[0], row[2]))
    if not ranked or (wanted and (not weights or max(row[1] for row in ranked[:3]) < _LEAST)):
        return [], weights
    chosen: list[ToldFinding] = []
    for worth, _, _, finding in ranked:
        if len(chosen) == _MOST or not worth or (weights and worth < ranked[0][0] / 4):
            break
        if sum(f.cluster.id == finding.cluster.id for f in chosen) < (_OF_ONE if weights else 1):
            own = finding.heading_stems | finding.sentences[0].stems
            others = (f.heading_stems | f.sentences[0].stems for f in chosen)
            if all(len(own & other) < _ALIKE * min(len(own), len(other)) for other in others):
                chosen.append(finding)
    return chosen, weights


def tell_summary(cluster: Cluster, weights: Mapping[str, float]) -> Iterable[Statement]:
    """The sentences of a report's summary that bear on the question, as an opening under the report's title."""
    sentences = _split_statements(cluster.summary)
    if not any(s.sources for s in sentences):  # summaries seldom say what they rest on: what the first findings name
        named = (source for f in cluster.findings for s in f.statements for source in s.sources)
        spans = tuple(dict.fromkeys(named))[:_SPANS]
        sentences = tuple(replace(s, sources=spans) for s in sentences)
    kept = _best_sentences(sentences, weights)
    yield Statement(f"Report “{cluster.title.strip()}”: ")
    yield from _cite(cluster, kept)


def tell_finding(finding: ToldFinding, weights: Mapping[str, float]) -> Iterable[Statement]:
    """A finding as a paragraph: its headline, and the sentences below it that bear most on the question."""
    mark = "" if finding.headline.endswith((".", "?", "!")) else "."
    yield Statement(f"\n\n**{finding.headline}{mark}** ")
    yield from _cite(finding.cluster, _best_sentences(finding.sentences, weights))


def list_entities_of_kinds(index: Index, kinds: set[str]) -> list[Entity]:
    """The entities of these types that most relations lead to, most first."""
    if not kinds:
        return []
    found = [e for e in index.graph.entities if e.type.casefold() in kinds and e.description]
    by_name: dict[str, Entity] = {}
    for entity in sorted(found, key=lambda e: (-e.degree, e.id)):
        by_name.setdefault(entity.name.casefold().removeprefix("the "), entity)
    return list(by_name.values())[:_LISTED]


def tell_entities(listed: Sequence[Entity]) -> Iterable[Statement]:
    """Each entity with the first sentence of its description."""
    for number, entity in enumerate(listed):
        spans = split_sentences(entity.description) or [(0, len(entity.description))]
        said = entity.description[spans[0][0] : spans[0][1]].strip()
        sources = tuple(dict.fromkeys(d.source for d in entity.descriptions))[:_SPANS]
        name = capwords(entity.name) if entity.name.isupper() else entity.name
        yield Statement(f"{chr(10) if number else ''}- **{name}**: ")
        yield Statement(said, (entity.id,), sources)


def _cite(cluster: Cluster, sentences: Sequence[ToldSentence]) -> Iterable[Statement]:
    for number, told in enumerate(sentences):
        if number:
            yield Statement(" ")
        yield Statement(told.text, (cluster.id,), told.sources)


def _best_sentences(sentences: Sequence[ToldSentence], weights: Mapping[str, float]) -> list[ToldSentence]:
    """The first sentence, and the one of the others that holds most of the wanted words, in their order."""
    if len(sentences) <= _SENTENCES:
        return list(sentences)
    others = range(1, len(sentences))
    best = max(others, key=lambda i: (sum(w for s, w in weights.items() if s in sentences[i].stems), -i))
    return [sentences[0], sentences[best]]


def _split_statements(statements: Sequence[Statement]) -> tuple[ToldSentence, ...]:
    """The sentences of statements; a sentence over the end of one has the spans of the last that it stands in.

    One without spans has those of the next that has some, else of the one before.
    """
    text, ends = "", []
    for statement in statements:
        text += statement.text
        ends.append((len(text), statement.sources[:_SPANS]))
    found = []
    for begin, end in split_sentences(text) or ([(0, len(text))] if text.strip() else []):
        sources = next((named for stop, named in ends if stop > begin and named), ())
        sources = sources or next((named for _, named in reversed(ends) if named), ())
        said = " ".join(text[begin:end].split())
        found.append(ToldSentence(said, sources, frozenset(list_stems(said))))
    return tuple(found)


@cache
def _stems_of(words: frozenset[str]) -> frozenset[str]:
    return frozenset(stem for word in words for stem in list_stems(word))
