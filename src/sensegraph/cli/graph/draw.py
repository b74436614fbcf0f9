"""The command that draws the communities: draw."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sensegraph.cli.options import Root, Set, open_corpus, print_message, print_text, read_overrides, require_index
from sensegraph.errors import InputError

if TYPE_CHECKING:
    from sensegraph.graphs.drawing.drawing import Drawing

_HERE = Path(".")
_FORMATS = ("svg", "png", "html")
_DEPTHS = (0, 1)  # those of Figure 4 of Edge et al. (2024)


def draw_index(
    root: Root = _HERE,
    depth: Annotated[
        list[int] | None,
        typer.Option("--depth", min=0, metavar="N", help="Which communities: 0 is the coarsest; repeatable.",
                     show_default="0 and 1"),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--format", metavar="svg|png|html", help="What to write.", show_default="by --out, else svg"),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The file to write, over an earlier one.",
                     show_default="communities.svg"),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=0, metavar="N", help="How many communities are named.")] = 40,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Another layout of the same.")] = 0,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="The title.", show_default="the folder's name")
    ] = None,
    font: Annotated[
        Path | None,
        typer.Option("--font", metavar="FILE", help="The font file of a PNG.", show_default="that of Pillow"),
    ] = None,
    settings: Set = None,
) -> None:  # fmt: skip
    """Draw the communities: entities sized by degree, coloured by community. Prints the files that were written."""
    from sensegraph.graphs.drawing.drawing import lay_out_drawing as lay_out

    form, place = _choose_form(kind, to)
    with open_corpus(root, read_overrides(settings)) as corpus:
        require_index(corpus, root)
        index = corpus.index()
        depths = sorted(set(depth)) if depth else [d for d in _DEPTHS if d < max(index.depth, 1)]
        if index.depth and depths[-1] >= index.depth:
            raise InputError(f"There is no depth {depths[-1]}: this index has the depths 0 to {index.depth - 1}.")
        # the layout is the same for every choice of the first depths
        levels = [index.clusters_at(d) for d in range(min(max(*depths, *_DEPTHS) + 1, index.depth))]
        drawing = lay_out(index.graph, levels, name=title or root.resolve().name, seed=seed)
    if form == "html":
        from sensegraph.graphs.drawing.rendering import render_html

        _write_picture(place, render_html(drawing, depths).encode())
        return
    for d in depths:
        one = place if len(depths) == 1 else place.with_name(f"{place.stem}-depth-{d}{place.suffix}")
        _write_picture(one, _draw_still(drawing, d, top, form, font))


def _choose_form(kind: str | None, to: Path | None) -> tuple[str, Path]:
    """The format and the file: each says the other where it is not given."""
    named = to.suffix.removeprefix(".").lower() if to else ""
    form = kind or (named if named in _FORMATS else "svg")
    if form not in _FORMATS:
        from sensegraph.corpus.settings import describe_choices

        raise typer.BadParameter(f"the format cannot be {describe_choices(form, _FORMATS)}")
    if to and named != form:
        raise typer.BadParameter(f"{to} does not end in .{form}; name a file that does, or another --format.")
    return form, to or Path(f"communities.{form}")


def _draw_still(drawing: Drawing, depth: int, top: int, form: str, font: Path | None) -> bytes:
    from sensegraph.graphs.drawing.rendering import list_missing_characters, render_png, render_svg
    from sensegraph.graphs.drawing.scene import compose_scene

    picture = compose_scene(drawing, depth, top)
    if form == "svg":
        return render_svg(picture).encode()
    if lost := list_missing_characters(picture, font):
        many = "1 character is" if len(lost) == 1 else f"{len(lost)} characters are"
        print_message(f"{many} not in the font ({''.join(lost[:20])}); name one that has all with --font.")
    return render_png(picture, font)


def _write_picture(place: Path, content: bytes) -> None:
    place.write_bytes(content)
    print_text(str(place))
