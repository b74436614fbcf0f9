"""Images, files that hold them, and a model at the wire that says what it was shown."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any

from office_files import pdf

Body = dict[str, Any]


def png(width: int = 200, height: int = 120, shade: int = 255) -> bytes:
    """A PNG of one shade of grey."""
    rows = (b"\0" + bytes([shade]) * width) * height
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(rows))]
    framed = [
        struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in [*parts, (b"IEND", b"")]
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


def pdf_with_images(pages: list[tuple[list[str], list[tuple[int, int, int]]]], packed: bytes = b"") -> bytes:
    """A PDF with these lines on its pages and images of (width, height, shade); `packed` is what they hold instead."""
    plain = pdf([lines for lines, _ in pages])
    objects = plain[: plain.rindex(b"xref\n")].split(b"endobj\n")[:-1]
    number = len(objects)
    for page, (_, images) in enumerate(pages):
        names = b""
        for n, (width, height, shade) in enumerate(images):
            number += 1
            data = packed or zlib.compress(bytes([shade]) * (width * height))
            facts = b"/Type /XObject /Subtype /Image /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode"
            sizes = b"/Width %d /Height %d /Length %d" % (width, height, len(data))
            objects.append(b"%d 0 obj\n<< %s %s >>\nstream\n%s\nendstream\n" % (number, facts, sizes, data))
            names += b"/Im%d %d 0 R " % (n, number)
        at = next(i for i, o in enumerate(objects) if o.startswith(b"%d 0 obj" % (4 + 2 * page)))
        objects[at] = objects[at].replace(b"/Font <<", b"/XObject << %s>> /Font <<" % names, 1)
        drawn = b"".join(b" q 200 0 0 100 72 %d cm /Im%d Do Q" % (500 - 110 * n, n) for n in range(len(images)))
        rest = objects[at + 1].partition(b"stream\n")[2]
        body = rest.rpartition(b"\nendstream")[0] + drawn
        objects[at + 1] = b"%d 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\n" % (5 + 2 * page, len(body), body)
    out, offsets = b"%PDF-1.4\n", []
    for o in (objects[0].removeprefix(b"%PDF-1.4\n"), *objects[1:]):
        offsets.append(len(out))
        out += o + b"endobj\n"
    table = b"".join(b"%010d 00000 n \n" % o for o in offsets)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + trailer


def images_in(body: Body) -> list[bytes]:
    """The images that a request shows."""
    parts = [p for m in body["messages"] if isinstance(m["content"], list) for p in m["content"]]
    return [base64.b64decode(p["image_url"]["url"].partition(",")[2]) for p in parts if p["type"] == "image_url"]


def shade_of(image: bytes) -> int:
    """The shade of an image as `png`, or a reader of PDFs, writes it."""
    at, data = 8, b""
    while at < len(image):
        (size,) = struct.unpack(">I", image[at : at + 4])
        data += image[at + 8 : at + 8 + size] if image[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + size
    return zlib.decompress(data)[1]


def described(description: str, *data: str, kind: str = "bar chart", words: str = "") -> str:
    """A description as a model writes it."""
    return json.dumps({"kind": kind, "description": description, "data": list(data), "words": words})
