"""Builds wheel and sdist, checks both, and installs them in fresh environments of every Python that is here.

    python bench/distribution.py [--into DIST] [--without-installing]

Printed are the size and the number of files of each, what twine says, and for each Python the seconds to install the
wheel and to run the demo from it; last the same for the sdist, with the first Python, and the first command of the
README in the unpacked sdist. Installing needs a package index.
`make release` runs it with twine.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import which

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
MOST_WHEEL_MB, MOST_SDIST_MB = 5, 12
NEVER = (".pyc", ".env", ".pem", ".key", ".sqlite", ".part")
IN_WHEEL = ("sensegraph/py.typed", "sensegraph/cli/settings_notes.toml", "sensegraph/methods/methods.toml")
IN_SDIST = (
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "NOTICE",
    "Makefile",
    "pyproject.toml",
    "docs/index.md",
    "tests/conftest.py",
)


@dataclass(frozen=True, slots=True)
class Archive:
    """A wheel or an sdist: its size in bytes, and the names of its files below its own folder."""

    path: Path
    size: int
    names: tuple[str, ...]


def build_archives(into: Path) -> tuple[Archive, Archive]:
    """The wheel and the sdist of this tree."""
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(into)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,), (sdist,) = into.glob("*.whl"), into.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = tuple(n for n in archive.namelist() if not n.endswith("/"))
    with tarfile.open(sdist) as archive:
        in_sdist = tuple(m.name.partition("/")[2] for m in archive.getmembers() if m.isfile())
    return Archive(wheel, wheel.stat().st_size, in_wheel), Archive(sdist, sdist.stat().st_size, in_sdist)


def find_faults(wheel: Archive, sdist: Archive) -> Iterator[str]:
    """What is wrong with the two: files that are missing or have no place there, a size, a version."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    sources = {p.relative_to(ROOT / "src").as_posix() for p in (ROOT / "src" / "sensegraph").rglob("*") if p.is_file()}
    sources = {name for name in sources if "__pycache__" not in name}
    for archive, most, needed in (
        (wheel, MOST_WHEEL_MB, (*IN_WHEEL, *sources)),
        (sdist, MOST_SDIST_MB, (*IN_SDIST, *(f"src/{name}" for name in sources))),
    ):
        name = archive.path.name
        if f"-{version}" not in name:
            yield f"{name} is not of version {version}"
        if archive.size > most * 1e6:
            yield f"{name} has {archive.size / 1e6:.1f} MB, more than {most}"
        yield from (f"{name} lacks {n}" for n in sorted(set(needed) - set(archive.names)))
        yield from (f"{name} holds {n}" for n in archive.names if n.endswith(NEVER))
    own = {n.partition("/")[0] for n in wheel.names}
    yield from (
        f"{wheel.path.name} installs {n}" for n in sorted(own - {"sensegraph", f"sensegraph-{version}.dist-info"})
    )


def try_installed(python: str, archive: Path) -> tuple[float, float]:
    """The seconds to install an archive in a fresh environment, and to run the demo there, in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", f"{folder}/venv"], check=True)
        start = time.perf_counter()
        install = [f"{folder}/venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", str(archive)]
        subprocess.run(install, check=True, cwd=folder)
        installed = time.perf_counter() - start
        demo = [f"{folder}/venv/bin/sensegraph", "demo"]
        told = subprocess.run(demo, check=True, cwd=folder, capture_output=True, text=True).stdout
        assert "Ruth Adeyemi voted for the offer" in told, told
        return installed, time.perf_counter() - start - installed


def runs(python: str) -> bool:
    """Whether a program that is called so is a Python: a version manager leaves names of which some lead nowhere."""
    return subprocess.run([python, "--version"], capture_output=True, check=False).returncode == 0


def try_readme(sdist: Path) -> float:
    """The seconds that the first command of the README takes in the unpacked source, as it stands there."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as packed:
            packed.extractall(folder, filter="data")
        (source,) = Path(folder).iterdir()
        command = (source / "README.md").read_text(encoding="utf-8").partition("```sh\n")[2].partition("\n```")[0]
        start = time.perf_counter()
        told = subprocess.run(["bash", "-ec", command], check=True, cwd=source, capture_output=True, text=True).stdout
        assert "Ruth Adeyemi voted for the offer" in told, told
        return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, help="where the two stay; without, they are thrown away")
    parser.add_argument("--without-installing", action="store_true")
    parser.add_argument("--twine", default="twine", help="the program")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        wheel, sdist = build_archives(Path(made))
        for archive in (wheel, sdist):
            print(f"{archive.path.name}: {archive.size / 1e6:.2f} MB, {len(archive.names)} files")
        faults = list(find_faults(wheel, sdist))
        if which(given.twine):
            checked = subprocess.run([given.twine, "check", "--strict", wheel.path, sdist.path]).returncode
            faults += ["twine found a fault"] * (checked != 0)
        else:
            print("twine is not here: metadata and README are not checked")
        pythons = [p for v in PYTHONS if (p := which(f"python{v}")) and runs(p)]
        for python, archive in (
            [] if given.without_installing else [*((p, wheel) for p in pythons), (pythons[0], sdist)]
        ):
            seconds = try_installed(python, archive.path)
            print(
                f"{Path(python).name}, {archive.path.name}: installed in {seconds[0]:.0f} s, demo in {seconds[1]:.1f} s"
            )
        if not given.without_installing:
            print(f"the README's first command, in the unpacked {sdist.path.name}: {try_readme(sdist.path):.0f} s")
        if given.into:
            given.into.mkdir(parents=True, exist_ok=True)
            for archive in (wheel, sdist):
                (given.into / archive.path.name).write_bytes(archive.path.read_bytes())
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
