"""Pictures of the communities of an index: SVG, PNG, and one HTML page to look around in.

Communities as in Figure 4 of Edge et al. (2024): entities sized by degree, coloured by community, placed by force.
"""
