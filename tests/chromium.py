"""A browser without a window, spoken to over two pipes in the protocol of its developer tools: no library, no port."""

from __future__ import annotations

import base64
import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
KEYS = {"Enter": ("Enter", "\r"), "Escape": ("Escape", ""), "Tab": ("Tab", "")}
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--mute-audio", "--force-color-profile=srgb", "--font-render-hinting=none", "--remote-debugging-pipe",
)  # fmt: skip
# the browser reads from 3 and writes to 4
LAUNCH = """
import fcntl, os, sys
reads, writes = (fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3])
os.dup2(reads, 3)
os.dup2(writes, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_chromium() -> str | None:
    """The program of a browser that speaks the protocol, or None."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Chromium:
    """A browser with one page. What goes wrong on the page is kept in `complaints`, what it loads in `requests`."""

    def __init__(self, program: str, patience: float = 60.0) -> None:
        self._patience, self._number, self._held = patience, 0, b""
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        own_end, their_end = os.pipe(), os.pipe()  # we write to the first, and read from the second
        flags = [*FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-Sc", LAUNCH, str(own_end[0]), str(their_end[1]), program, *flags],
            pass_fds=(own_end[0], their_end[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(own_end[0])
        os.close(their_end[1])
        self._write, self._read = own_end[1], their_end[0]
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._session = ""
        try:
            self._attach()
        except BaseException:
            self.__exit__()
            raise

    def _attach(self) -> None:
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError, AssertionError):
            session, self._session = self._session, ""
            self.call("Browser.close")
            self._session = session
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    # ── the protocol ──

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask the browser, and wait for what it answers."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        number, deadline = self._number, time.monotonic() + self._patience
        while True:
            found = self._receive(deadline)
            assert found is not None, f"the browser did not answer {method}"
            if found.get("id") == number:
                assert "error" not in found, f"{method}: {found.get('error')}"
                result: dict[str, Any] = found["result"]
                return result

    def _receive(self, deadline: float) -> dict[str, Any] | None:
        while b"\0" not in self._held:
            with selectors.DefaultSelector() as ready:  # select() takes no descriptor above 1,023
                ready.register(self._read, selectors.EVENT_READ)
                came = ready.select(max(0.0, deadline - time.monotonic()))
            if not came:
                return None
            some = os.read(self._read, 1 << 20)
            assert some, "the browser has ended"
            self._held += some
        raw, _, self._held = self._held.partition(b"\0")
        message: dict[str, Any] = json.loads(raw)
        self._note(message)
        return message

    def _note(self, message: Mapping[str, Any]) -> None:
        params = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(
                    str(params["exceptionDetails"].get("exception", params["exceptionDetails"]))[:500]
                )
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.complaints.append(params["entry"]["text"] + " " + params["entry"].get("url", ""))
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])

    # ── the page ──

    def open(self, address: str) -> None:
        """Go to an address, and wait until it is loaded."""
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def leave(self) -> None:
        """Go to an empty page, and read what was still said of the last one."""
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")

    def run(self, script: str) -> Any:
        """The value of an expression on the page; a promise is awaited, and so is what is not there yet."""
        deadline = time.monotonic() + self._patience
        while True:
            found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
            if "exceptionDetails" not in found:
                return found["result"].get("value")
            assert time.monotonic() < deadline, found["exceptionDetails"]
            time.sleep(0.05)

    def wait(self, condition: str) -> Any:
        """Wait until an expression is true, and give its value; what cannot be said yet is not true yet."""
        settled = (
            f"(() => {{ try {{ const v = {condition}; return v instanceof Node || v; }} catch {{ return null; }} }})()"
        )
        deadline = time.monotonic() + self._patience
        while time.monotonic() < deadline:
            if found := self.run(settled):
                return found
            time.sleep(0.05)
        raise AssertionError(
            f"never true: {condition}\n{self.complaints}\n{self.run('document.body.innerText')[:2000]}"
        )

    def middle(self, selector: str) -> tuple[float, float]:
        """Where the middle of an element is seen, once it stands still; it is scrolled into view first."""
        self.wait(f"document.querySelector({json.dumps(selector)}) !== null")
        script = """(async () => {
          const frame = () => new Promise(requestAnimationFrame);
          let before = "";
          for (;;) {
            const e = document.querySelector(%s);
            e?.scrollIntoView({block: "nearest"});
            const r = e?.getClientRects()[0], now = r ? [r.x + r.width / 2, r.y + r.height / 2] : [];
            if (r && String(now) === before) return now;
            before = String(now);
            await frame(); await frame();
          }
        })()"""
        x, y = self.run(script % json.dumps(selector))
        return x, y

    def click(self, selector: str) -> None:
        """Press the mouse on an element, as a person does: what lies over it gets the click."""
        self.click_at(*self.middle(selector))

    def click_at(self, x: float, y: float) -> None:
        """Press the mouse at a place of the window."""
        self.point(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def point(self, x: float, y: float) -> None:
        """Move the mouse to a place of the window."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def type(self, text: str) -> None:
        """Write into what has the focus."""
        self.call("Input.insertText", text=text)

    def press(self, key: str) -> None:
        """Press a key."""
        code, text = KEYS.get(key, (key, key))
        numbers = {"Enter": 13, "Escape": 27, "Tab": 9}
        told: dict[str, Any] = {"key": code, "windowsVirtualKeyCode": numbers.get(key, 0)}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **told)
        self.call("Input.dispatchKeyEvent", type="keyUp", **told)

    def choose_files(self, selector: str, *files: Path) -> None:
        """Give files to a field that takes some."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        field = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=field, files=[str(f) for f in files])

    def resize(self, width: int, height: int, *, dark: bool = False, phone: bool = False, still: bool = True) -> None:
        """The window's size, and what its user likes: dark, nothing that moves."""
        scale = 2 if phone else 1
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone
        )
        likes = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"},
        ]
        self.call("Emulation.setEmulatedMedia", features=likes)

    def picture(self) -> bytes:
        """What is seen, as PNG."""
        self.run("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
