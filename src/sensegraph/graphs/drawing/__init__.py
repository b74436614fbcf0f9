"""Pictures of the communities of an index: SVG, PNG, and one HTML page to look around in.

Communities as in Figure 4 of Edge et al. (2024): entities sized by degree, coloured by community, placed by force.
"""

from sensegraph.graphs.drawing.drawing import Drawing, draw
from sensegraph.graphs.drawing.html import html
from sensegraph.graphs.drawing.png import png, unwritable
from sensegraph.graphs.drawing.scene import scene
from sensegraph.graphs.drawing.shapes import Scene
from sensegraph.graphs.drawing.svg import svg

__all__ = ["Drawing", "Scene", "draw", "html", "png", "scene", "svg", "unwritable"]
