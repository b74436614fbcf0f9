"""Where a person can be reached on the net: mail, pages of their own, addresses of their machines."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from sensegraph.personal.personal_settings import Span

_LOCAL = re.compile(r"[\w.+%'\-]{1,64}$")
_HOST = re.compile(r"(?:[^\W_][\w\-]{0,62}\.){1,8}[^\W\d_]{2,24}(?![\w@])|\[?\d{1,3}(?:\.\d{1,3}){3}\]?")
_SPELT = re.compile(
    r"(?<![\w.])([\w.+\-]{1,64}) ?[\[({] ?at ?[\])}] ?"
    r"((?:[\w\-]{1,63}(?: ?[\[({] ?dot ?[\])}] ?|\.)){1,5}[^\W\d_]{2,24})\b",
    re.IGNORECASE,
)
_DOT = re.compile(r" ?[\[({] ?dot ?[\])}] ?", re.IGNORECASE)
_NEVER = frozenset("png jpg jpeg gif svg webp css js txt html htm pdf mp3 mp4 csv tsv json jsonl xml docx xlsx".split())
_FILES = _NEVER | frozenset("md rst py ts rs go zip doc".split())  # endings of files, some of hosts as well
_MACHINES = frozenset({"git", "svn", "hg"})  # git@host:path names a repository

_URL = re.compile(
    r"(?:https?://|ftp://|www\.)[^\s<>\"'“”‘’«»]{3,500}|(?<![\w.@/])(?:[a-z]{2,20}\.)+[a-z]{2,6}/[^\s<>\"']{2,200}"
)
_TAIL = ".,;:!?)]}…"
_SITES = (
    r"(?:twitter|x|instagram|facebook|tiktok|github|gitlab|medium|pinterest|threads|twitch|soundcloud|flickr|vimeo|"
    r"quora|xing|vk)\.(?:com|net|tv|org|de)"
)
_OF_SITE = (  # pages of a site, of nobody in particular
    "(?:about|login|signup|search|home|explore|settings|features|pricing|privacy|terms|help|jobs|topics|hashtag|share|"
    "intent)"
)
_USER = re.compile(
    r"//[^/\s@]{1,100}@"  # a name, and maybe a password, before the host
    rf"|(?:^|//)(?:www\.|m\.|mobile\.)?{_SITES}/(?!{_OF_SITE}(?:[/?#]|$))@?[\w.\-]{{2,40}}/?(?:$|[?#]|status/)"
    r"|linkedin\.com/(?:in|pub)/[^/\s]+|//(?:t|wa)\.me/[\w+]{3,}|(?:youtube|tiktok)\.com/@[\w.\-]+"
    r"|reddit\.com/u(?:ser)?/\w+|orcid\.org/\d|/@[\w.\-]{2,}|/~[\w.\-]+"
    r"|/(?:users?|profiles?|members?|people|authors?)/[\w.\-%]{2,}"
    r"|[?&](?:user(?:_?name)?|login|account|member)=[^&#\s]+",
    re.IGNORECASE,
)

_V4 = re.compile(r"(?<![\w.\-])(?:\d{1,3}\.){3}\d{1,3}(?![\w\-]|\.\d)")
_V6 = re.compile(r"(?<![\w:.])[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?:(?<=:)(?:\d{1,3}\.){3}\d{1,3})?(?![\w:])")
_VERSION = re.compile(
    r"(?:\bv(?:er(?:sion)?)?|\brelease|\bsection|\bchapter|\bclause|\barticle|§|\bsec|\bbuild|\brev(?:ision)?|\bfirmware|"
    r"\bpatch|\bupdate[d]?(?: to)?|\bpython|\bkernel|\bdriver|\bparagraph|\bfigure|\btable|\bstep)s?\.? ?$",
    re.IGNORECASE,
)
_MACHINE = re.compile(r"\b(?:ip|ips|address|host|server|client|from|ping|dns|gateway|node|login)\b", re.IGNORECASE)


def find_emails(text: str) -> Iterator[Span]:
    """Addresses of electronic mail, also those spelt `name [at] host [dot] org`."""
    for at in re.finditer("@", text):
        local = _LOCAL.search(text, max(0, at.start() - 64), at.start())
        host = _HOST.match(text, at.end())
        name = host[0] if host else ""
        rest, _, last = name.rpartition(".")
        if last.casefold() in _FILES:  # the ending of a file that is named after an address is no part of it
            if "." in rest and not rest.rpartition(".")[2].isdecimal():
                name = rest
            elif last.casefold() in _NEVER:
                name = ""
        if local and name and local[0].strip(".'%") and local[0] not in _MACHINES:
            start, end = local.end() - len(local[0].lstrip(".'%")), at.end() + len(name)
            yield Span("email", start, end, text[start:end].casefold())
    for match in _SPELT.finditer(text):
        plain = f"{match[1]}@{_DOT.sub('.', match[2])}"
        yield Span("email", match.start(), match.end(), plain.casefold())


def find_user_urls(text: str) -> Iterator[Span]:
    """Addresses of pages that name a user: a profile, a home folder, a login."""
    for match in _URL.finditer(text):
        whole = match[0].rstrip(_TAIL)
        if _USER.search(whole):
            yield Span("url", match.start(), match.start() + len(whole), whole.rstrip("/").casefold())


def find_ip_addresses(text: str) -> Iterator[Span]:
    """Addresses of machines (IPv4, IPv6) that may be somebody's; not those that every machine has of itself."""
    for match in _V4.finditer(text):
        if _is_foreign_address(match[0]) and not _VERSION.search(text[max(0, match.start() - 20) : match.start()]):
            small = all(len(part) == 1 for part in match[0].split("."))  # like the number of a paragraph
            if not small or _MACHINE.search(text[max(0, match.start() - 30) : match.start()]):
                yield Span("ip", match.start(), match.end(), match[0])
    for match in _V6.finditer(text):
        if len(match[0]) > 5 and any(c.isdigit() for c in match[0]) and _is_foreign_address(match[0]):
            yield Span("ip", match.start(), match.end(), match[0].casefold())


def _is_foreign_address(text: str) -> bool:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (found.is_loopback or found.is_unspecified or found.is_multicast or text.startswith("255."))
