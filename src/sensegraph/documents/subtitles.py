"""Subtitles (`.srt`, `.vtt`): their cues as running text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from sensegraph.errors import InputError
from sensegraph.types import Document

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}")
_VOICE = re.compile(r"<v(?:\.[^\s>]{0,80})?\s{1,8}([^>]{1,200})>")
_MARKS = re.compile(r"</?[a-zA-Z][^<>]{0,80}>|<[\d:.]+>|\{\\[^{}]{0,80}\}")
_TURN = re.compile(r"(?:>>+|[-–—])\s*(?=\S)|(?=[A-Z][A-Z .'’-]{1,30}:\s)")
_PAUSE = 4.0  # seconds without a cue that end a paragraph


def parse_subtitles(name: str, text: str) -> Document:
    """The cues of a file, joined: numbers, times and marks are left out, and a line that is shown on is told once.

    A longer pause ends a paragraph. Who begins to speak (`<v Name>`, `NAME:`, a dash) begins a line, `Name: …` where
    the name is known. Raises InputError where there is no cue.
    """
    paragraphs: list[list[list[str]]] = []  # of each line the parts
    reached, speaker, before, counted = 0.0, "", "", 0
    for start, end, lines in _read_cues(text.replace("\r", "\n")):
        counted += 1
        if not paragraphs or start - reached >= _PAUSE:
            paragraphs.append([])
            speaker = ""
        reached = max(end, start)
        shown = "\n".join(lines).replace("<v", "\n<v").strip("\n")
        for number, line in enumerate(shown.split("\n")):
            voice = _VOICE.search(line)
            said = " ".join(html.unescape(_MARKS.sub("", _VOICE.sub("", line))).split())
            turn = _TURN.match(said)
            plain = said[turn.end() :] if turn else said
            if not plain or plain == before:
                continue
            before = plain
            who = " ".join(html.unescape(voice[1]).split()) if voice else speaker if number else ""
            if turn or who != speaker or not paragraphs[-1]:
                paragraphs[-1].append([f"{who}: {plain}" if who and who != speaker else plain])
            else:
                paragraphs[-1][-1].append(plain)
            speaker = who
    told = "\n\n".join("\n".join(map(" ".join, lines)) for lines in paragraphs if lines)
    if not told:
        what = "holds cues without words" if counted else "holds no cues with times (00:00:01,000 --> 00:00:02,000)"
        raise InputError(f"{what}; there is nothing to read in it, or it is no subtitle file: name it .txt.")
    head = re.match(r"WEBVTT[ \t]+(?:-[ \t]*)?(\S[^\n]*)", text)
    return Document(name, told, head[1].strip() if head else "")


def _read_cues(text: str) -> Iterator[tuple[float, float, list[str]]]:
    """Start, end (seconds) and lines of each cue; a line before the times of a cue is its number or name."""
    lines = text.split("\n")
    timings = [(number, match) for number, line in enumerate(lines) if (match := _TIMING.match(line))]
    ends = [*(number for number, _ in timings[1:]), len(lines) + 1]
    for (number, match), behind in zip(timings, ends, strict=False):
        body = lines[number + 1 : behind]
        held = next((n for n, line in enumerate(body) if not line.strip()), None)
        if held is None:  # no blank line: what stands before the next times is the number of that cue
            held = len(body) - (behind < len(lines) and bool(body) and body[-1].strip().isdecimal())
        yield _seconds(match, 1), _seconds(match, 5), body[:held]


def _seconds(match: re.Match[str], group: int) -> float:
    hours, minutes, seconds, part = (match[group + n] or "0" for n in range(4))
    return int(hours) * 3600 + int(minutes) * 60 + float(f"{seconds}.{part}")
