"""PDF and office files made on the spot, for tests of how they are read."""

from __future__ import annotations

import io
import zipfile
from importlib.util import find_spec

import pytest

needs_docs = pytest.mark.skipif(find_spec("kreuzberg") is None, reason="the extra `docs` is not installed")
_KINDS = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def pdf(pages: list[list[str]], title: str = "") -> bytes:
    """A PDF with these lines on its pages."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for i, lines in enumerate(pages):
        page = "/Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< {page} /Contents {5 + 2 * i} 0 R >>")
        drawn = "BT /F1 12 Tf 14 TL 72 740 Td " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    objects.append(f"<< /Title ({title}) /CreationDate (D:20240305060708Z) >>")
    out, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return out + f"xref\n0 {size}\n0000000000 65535 f \n".encode() + table + trailer.encode()


def docx(paragraphs: list[str], created: str = "", modified: str = "") -> bytes:
    """A .docx file with these paragraphs; with the times of its properties, and an author that nobody named."""
    words = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = "".join(f"<w:p><w:r><w:t>{p}</w:t></w:r></w:p>" for p in paragraphs)
    document = f'<w:document xmlns:w="{words}"><w:body>{body}</w:body></w:document>'
    parts = {"_rels/.rels": _relate([("officeDocument", "word/document.xml")]), "word/document.xml": document}
    if created:
        spaces = f'xmlns:cp="{_KINDS}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        spaces += 'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        told = "".join(
            f'<dcterms:{name} xsi:type="dcterms:W3CDTF">{time}</dcterms:{name}>'
            for name, time in (("created", created), ("modified", modified or created))
        )
        author = "<dc:creator>python-docx</dc:creator>"
        parts["docProps/core.xml"] = f"<cp:coreProperties {spaces}>{author}{told}</cp:coreProperties>"
    return _pack(parts)


def pptx(slides: list[list[str]]) -> bytes:
    """A .pptx file with these paragraphs on its slides."""
    show = "http://schemas.openxmlformats.org/presentationml/2006/main"
    spaces = f'xmlns:p="{show}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{_OFFICE}"'
    numbers = range(1, len(slides) + 1)
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in numbers)
    parts = {
        "_rels/.rels": _relate([("officeDocument", "ppt/presentation.xml")]),
        "ppt/presentation.xml": f"<p:presentation {spaces}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": _relate([("slide", f"slides/slide{n}.xml") for n in numbers]),
    }
    for n, paragraphs in zip(numbers, slides, strict=True):
        text = "".join(f"<a:p><a:r><a:t>{p}</a:t></a:r></a:p>" for p in paragraphs)
        shape = f'<p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:txBody>{text}</p:txBody>'
        tree = f"<p:cSld><p:spTree><p:sp>{shape}</p:sp></p:spTree></p:cSld>"
        parts[f"ppt/slides/slide{n}.xml"] = f"<p:sld {spaces}>{tree}</p:sld>"
    return _pack(parts)


def _relate(targets: list[tuple[str, str]]) -> str:
    rows = "".join(
        f'<Relationship Id="r{n}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_KINDS}/relationships">{rows}</Relationships>'


def _pack(parts: dict[str, str]) -> bytes:
    types = (
        f'<Types xmlns="{_KINDS}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/></Types>'
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in {"[Content_Types].xml": types, **parts}.items():
            archive.writestr(name, content)
    return buffer.getvalue()
