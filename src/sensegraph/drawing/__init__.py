"""Pictures of the communities of an index: SVG, PNG, and one HTML page to look around in.

Communities as in Figure 4 of Edge et al. (2024): entities sized by degree, coloured by community, placed by force.
"""

from sensegraph.drawing.drawing import Drawing, draw
from sensegraph.drawing.html import html
from sensegraph.drawing.png import png, unwritable
from sensegraph.drawing.scene import scene
from sensegraph.drawing.shapes import Scene
from sensegraph.drawing.svg import svg

__all__ = ["Drawing", "Scene", "draw", "html", "png", "scene", "svg", "unwritable"]
