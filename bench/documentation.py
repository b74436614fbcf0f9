"""Collects the documents of this machine that the questions of `documentation-questions.toml` are about.

    python bench/documentation.py FOLDER            # collect, then look up every evidence of the questions
    python bench/documentation.py FOLDER --training # the same for documentation-training.toml, other documents
    python bench/documentation.py FOLDER --held-back  # the same for documentation-held-back.toml, other documents again
    python bench/documentation.py FOLDER --listed   # print what would be collected, and from where

The documents are licences, manual pages, change logs, histories and READMEs of Debian packages and of Python packages.
They stand under licences of their own, so they are collected and not copied into this repository. Packed files are
unpacked, manual pages are set by `man` at a fixed width, and all are cut at a line end before 60,000 characters.
Prints which are missing, how many were collected, for how many questions the evidence stands in its document, and of
how many the known answer has its keys: on a machine with other versions of the packages, a question without its
evidence has to be left out. How answers are graded: `documentation-rubric.md`.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import subprocess
import tomllib
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

LONGEST = 60_000  # characters taken of a document
WIDTH = "100"  # columns of a manual page
QUESTIONS = Path(__file__).with_name("documentation-questions.toml")
HELD_BACK = Path(__file__).with_name("documentation-held-back.toml")
TRAINING = Path(__file__).with_name("documentation-training.toml")  # by which `answers.py` trains, and rules are made

FILES = {  # the name of a document, and its path under /usr/share
    "apache-2.0.txt": "common-licenses/Apache-2.0",
    "artistic.txt": "common-licenses/Artistic",
    "bsd-3-clause.txt": "common-licenses/BSD",
    "cc0-1.0.txt": "common-licenses/CC0-1.0",
    "gfdl-1.3.txt": "common-licenses/GFDL-1.3",
    "gpl-2.txt": "common-licenses/GPL-2",
    "gpl-3.txt": "common-licenses/GPL-3",
    "lgpl-2.1.txt": "common-licenses/LGPL-2.1",
    "mpl-2.0.txt": "common-licenses/MPL-2.0",
    "dejavu-copyright.txt": "doc/fonts-dejavu-core/copyright",
    "zlib-copyright.txt": "doc/zlib1g/copyright",
    "sqlite-copyright.txt": "doc/libsqlite3-0/copyright",
    "bash-intro.txt": "doc/bash/INTRO.gz",
    "zstd-readme.md": "doc/zstd/README.md.gz",
    "users-and-groups.txt": "doc/base-passwd/users-and-groups.txt.gz",
    "pam-policy.txt": "doc/libpam0g/Debian-PAM-MiniPolicy.gz",
    "base-files-faq.txt": "doc/base-files/FAQ",
    "zlib-faq.txt": "doc/zlib1g-dev/FAQ.gz",
    "procps-faq.txt": "doc/procps/FAQ.gz",
    "valgrind-faq.txt": "doc/valgrind/FAQ.txt.gz",
    "xz-history.txt": "doc/xz-utils/history.txt.gz",
    "xz-faq.txt": "doc/xz-utils/faq.txt.gz",
    "unzip-history.txt": "doc/unzip/History.600.gz",
    "node-glossary.md": "doc/nodejs/glossary.md",
    "node-governance.md": "doc/nodejs/GOVERNANCE.md",
    "git-2.0-notes.txt": "doc/git/RelNotes/2.0.0.txt",
    "less-news.txt": "doc/less/NEWS.gz",
    "gzip-news.txt": "doc/gzip/NEWS.gz",
    "grep-news.txt": "doc/grep/NEWS.gz",
    "diffutils-news.txt": "doc/diffutils/NEWS.gz",
    "tar-news.txt": "doc/tar/NEWS.gz",
    "python-history.txt": "doc/python3.11/HISTORY.gz",
    "apt-news.txt": "doc/apt/NEWS.Debian.gz",
    "adduser-news.txt": "doc/adduser/NEWS.Debian.gz",
    "bzip2-changelog.txt": "doc/bzip2/changelog.Debian.gz",
}
MANUALS = {  # the name of a document, and the path of the manual page under /usr/share/man
    "nice-manual.txt": "man1/nice.1.gz",
    "gzip-manual.txt": "man1/gzip.1.gz",
    "git-bisect-manual.txt": "man1/git-bisect.1.gz",
    "ssh-keygen-manual.txt": "man1/ssh-keygen.1.gz",
    "fstab-manual.txt": "man5/fstab.5.gz",
    "watch-handbuch.txt": "de/man1/watch.1.gz",
    "deb-version-manuel.txt": "fr/man7/deb-version.7.gz",
    "run-parts-manual.txt": "es/man8/run-parts.8.gz",
}
READMES = {  # the name of a document, and the Python package whose description it is
    "tabulate-readme.md": "tabulate",
    "tqdm-readme.rst": "tqdm",
    "sortedcontainers-readme.rst": "sortedcontainers",
}
LICENCES = {  # the name of a document, and the Python package that has this licence
    "pluggy-mit.txt": "pluggy",
    "pygments-bsd-2-clause.txt": "pygments",
    "typing-extensions-psf.txt": "typing_extensions",
}

TRAINING_FILES = {
    "adduser-readme.txt": "doc/adduser/README.gz",
    "base-files-readme.txt": "doc/base-files/README",
    "base-passwd-readme.txt": "doc/base-passwd/README",
    "bash-commands-readme.txt": "doc/bash/README.commands.gz",
    "ca-certificates-readme.txt": "doc/ca-certificates/README.Debian",
    "fakeroot-saving.txt": "doc/fakeroot/README.saving",
    "gnupg-readme.txt": "doc/gnupg/README.gz",
    "gpg-agent-readme.txt": "doc/gpg-agent/README.Debian",
    "init-helpers-readme.txt": "doc/init-system-helpers/README.invoke-rc.d.gz",
    "jpeg-turbo-readme.md": "doc/libjpeg-dev/README.md.gz",
    "png-readme.txt": "doc/libpng16-16/README.gz",
    "libffi-readme.md": "doc/libffi-dev/README.md.gz",
    "cpp-readme-debian.txt": "doc/cpp/README.Debian",
    "git-readme-debian.txt": "doc/git/README.Debian",
    "gcc-bugs.txt": "doc/gcc/README.Bugs",
    "glibc-readme-debian.txt": "doc/libc6/README.Debian.gz",
    "dpkg-removal-schedule.txt": "doc/dpkg/README.feature-removal-schedule.gz",
    "findutils-news.txt": "doc/findutils/NEWS.gz",
    "idn2-news.txt": "doc/libidn2-0/NEWS.gz",
    "libarchive-news.txt": "doc/libarchive13/NEWS.gz",
    "glibc-news-debian.txt": "doc/libc6/NEWS.Debian.gz",
    "systemd-news-debian.txt": "doc/libsystemd0/NEWS.Debian.gz",
    "lgpl-3.txt": "common-licenses/LGPL-3",
    "mpl-1.1.txt": "common-licenses/MPL-1.1",
    "gpl-1.txt": "common-licenses/GPL-1",
    "cups-readme.txt": "doc/libcups2/README.Debian.gz",
    "sasl-readme.txt": "doc/libsasl2-2/README.Debian",
    "sed-faq.txt": "doc/sed/sedfaq.txt.gz",
    "io-compress-faq.txt": "perl/5.36.0/IO/Compress/FAQ.pod",
}
TRAINING_MANUALS = {
    "xargs-manual.txt": "man1/xargs.1.gz",
    "chmod-manual.txt": "man1/chmod.1.gz",
    "cp-manual.txt": "man1/cp.1.gz",
    "du-manual.txt": "man1/du.1.gz",
    "git-stash-manual.txt": "man1/git-stash.1.gz",
    "git-clean-manual.txt": "man1/git-clean.1.gz",
    "ssh-copy-id-manual.txt": "man1/ssh-copy-id.1.gz",
    "passwd-manual.txt": "man5/passwd.5.gz",
    "timeout-manual.txt": "man1/timeout.1.gz",
    "flock-manual.txt": "man1/flock.1.gz",
    "split-manual.txt": "man1/split.1.gz",
    "kill-handbuch.txt": "de/man1/kill.1.gz",
    "free-handbuch.txt": "de/man1/free.1.gz",
    "uptime-manuel.txt": "fr/man1/uptime.1.gz",
    "unzip-manual.txt": "man1/unzip.1.gz",
    "tee-manual.txt": "man1/tee.1.gz",
    "date-manual.txt": "man1/date.1.gz",
    "git-worktree-manual.txt": "man1/git-worktree.1.gz",
}
TRAINING_READMES = {
    f"{name}-readme.md": name
    for name in ("rich", "click", "hypothesis", "numpy", "packaging", "msgspec", "pytest-xdist", "rapidfuzz")
}
TRAINING_LICENCES = {"joblib-licence.txt": "joblib", "defusedxml-licence.txt": "defusedxml"}
HELD_BACK_FILES = {
    "make-news.txt": "doc/make/NEWS.gz",
    "wget-news.txt": "doc/wget/NEWS.gz",
    "python-policy.txt": "doc/python3/python-policy.txt.gz",
    "libnet-faq.txt": "perl/5.36.0/Net/libnetFAQ.pod",
}
HELD_BACK_MANUALS = {
    "shred-manual.txt": "man1/shred.1.gz",
    "cmp-manual.txt": "man1/cmp.1.gz",
    "git-remote-manual.txt": "man1/git-remote.1.gz",
    "truncate-manual.txt": "man1/truncate.1.gz",
}
HELD_BACK_LICENCES = {"anyio-licence.txt": "anyio", "grimp-licence.txt": "grimp", "loky-licence.txt": "loky"}
SOURCES: dict[Path, tuple[dict[str, str], ...]] = {
    QUESTIONS: (FILES, MANUALS, READMES, LICENCES),
    TRAINING: (TRAINING_FILES, TRAINING_MANUALS, TRAINING_READMES, TRAINING_LICENCES),
    HELD_BACK: (HELD_BACK_FILES, HELD_BACK_MANUALS, {}, HELD_BACK_LICENCES),
}


def read_file(path: Path) -> str | None:
    """The text of a file, unpacked; None where there is none."""
    if not path.is_file():
        return None
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")


def set_manual(path: Path) -> str | None:
    """A manual page as a reader of the terminal sees it; None where there is no page, or no `man`."""
    command = ["man", "--encoding=UTF-8", "--no-hyphenation", "--no-justification", "--local-file", str(path)]
    environment = {**os.environ, "MANWIDTH": WIDTH, "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.decode("utf-8", "replace") or None


def read_description(package: str) -> str | None:
    """The long description of a Python package."""
    try:
        payload = metadata.metadata(package).get_payload()  # type: ignore[attr-defined]
    except metadata.PackageNotFoundError:
        return None
    return payload if isinstance(payload, str) and payload else None


def read_licence(package: str) -> str | None:
    """The licence that a Python package brings along."""
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return None
    return next((read_file(Path(str(f.locate()))) for f in files if f.stem.upper() in ("LICENSE", "LICENCE")), None)


def cut_text(text: str, longest: int = LONGEST) -> str:
    """The lines of a text that end within so many characters."""
    return text if len(text) <= longest else text[: text.rfind("\n", 0, longest) + 1 or longest]


def collect_documents(asked: Path = QUESTIONS) -> dict[str, str | None]:
    """The text of each document for a file of questions by its name, None where this machine has none."""
    share = Path("/usr/share")
    files, manuals, readmes, licences = SOURCES[asked]
    found = {name: read_file(share / path) for name, path in files.items()}
    found |= {name: set_manual(share / "man" / path) for name, path in manuals.items()}
    found |= {name: read_description(package) for name, package in readmes.items()}
    found |= {name: read_licence(package) for name, package in licences.items()}
    return {name: None if text is None else cut_text(text) for name, text in found.items()}


def find_evidence(text: str, evidence: Sequence[str]) -> bool:
    """Whether every evidence stands in a text, whatever its blanks and its capitals."""
    folded = " ".join(text.split()).casefold()
    return all(" ".join(said.split()).casefold() in folded for said in evidence)


def has_keys(answer: str, keys: Sequence[Sequence[str]]) -> bool:
    """Whether an answer has one of each group of keys, as whole words in any case."""
    said = " ".join(answer.split())
    return all(any(re.search(rf"(?<!\w){re.escape(k)}(?!\w)", said, re.IGNORECASE) for k in group) for group in keys)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--training", action="store_true", help="the documents and questions to train with")
    parser.add_argument("--held-back", action="store_true", help="those that rules were not made by")
    parser.add_argument("--listed", action="store_true", help="print the sources and collect nothing")
    given = parser.parse_args()
    if given.listed:
        for name, source in sorted((FILES | MANUALS | READMES | LICENCES).items()):
            print(f"{name:28} {source}")
        return
    listed = TRAINING if given.training else HELD_BACK if given.held_back else QUESTIONS
    documents = collect_documents(listed)
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        if text is None:
            print(f"missing: {name}")
        else:
            (given.folder / name).write_text(text, encoding="utf-8")
    texts = {name: text for name, text in documents.items() if text is not None}
    print(f"{len(texts)} of {len(documents)} documents, {sum(map(len, texts.values())):,} characters")
    questions = tomllib.loads(listed.read_text(encoding="utf-8"))["questions"]
    answered = [q for q in questions if not q.get("abstains", False)]
    lacking = [q for q in answered if not find_evidence(texts.get(q["document"], ""), q["evidence"])]
    for question in lacking:
        print(f"without evidence in {question['document']}: {question['question']}")
    for question in answered:
        if not has_keys(question.get("answer", " ".join(k[0] for k in question["keys"])), question["keys"]):
            print(f"the known answer has not all keys: {question['question']}")
    print(
        f"{len(questions)} questions, {len(questions) - len(answered)} without an answer; "
        f"the evidence of {len(answered) - len(lacking)} of {len(answered)} stands in its document"
    )


if __name__ == "__main__":
    main()
