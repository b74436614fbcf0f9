"""A small corpus with times, kinds, and in each document a word that stands in no other: for filters and methods."""

from __future__ import annotations

from sensegraph.types import Document

TEXTS = {
    "minutes-2019": (
        "The Harbour Council of Port Ellery met on 4 March 2019. Ada Finch asked the Harbour Council to build a new "
        "pier. Tom Reeve spoke against the pier. Tom Reeve said that the pier would cost the fishing fleet its "
        "moorings. The Harbour Council put off its decision. Ada Finch keeps the lighthouse of Skerry Point. The word "
        "of this paper is Quillfeather."
    ),
    "letter-2019": (
        "Ada Finch wrote to Nora Blythe in June 2019. Nora Blythe runs the Blythe Shipyard in Port Ellery. Ada Finch "
        "offered the Blythe Shipyard the work on the pier. Nora Blythe answered that the Blythe Shipyard would need "
        "oak from Marrow Wood. The word of this paper is Sandglimmer."
    ),
    "report-2020": (
        "The fishing fleet of Port Ellery landed less herring in 2020. Tom Reeve leads the fishing fleet. Tom Reeve "
        "told the Harbour Council that herring moved north with the warmer sea. The Fishery Office at Lowmouth "
        "counted the herring. The Fishery Office warned Port Ellery of a closed season. The word of this paper is "
        "Thornwhistle."
    ),
    "newspaper-2021": (
        "The Ellery Gazette reported the storm of November 2021. The storm broke the old pier of Port Ellery. Nora "
        "Blythe lent the Harbour Council two boats. Ada Finch kept the lamp of Skerry Point burning. The Harbour "
        "Council thanked Ada Finch and Nora Blythe. The word of this paper is Umbercastle."
    ),
    "minutes-2022": (
        "The Harbour Council voted for the new pier on 9 May 2022. Tom Reeve changed his mind after the storm. The "
        "Blythe Shipyard was given the work. Nora Blythe promised to be done in two years. Ada Finch asked for a "
        "second lamp at Skerry Point. The word of this paper is Velvetanchor."
    ),
    "letter-2023": (
        "Nora Blythe wrote to Ivo Marsh in January 2023. Ivo Marsh owns Marrow Wood. Nora Blythe bought oak from Ivo "
        "Marsh for the pier. Ivo Marsh asked that new trees be planted at Marrow Wood. The word of this paper is "
        "Wintersparrow."
    ),
    "newspaper-2024": (
        "The Ellery Gazette reported the opening of the new pier in July 2024. Tom Reeve cut the ribbon. The fishing "
        "fleet has its moorings at the new pier. The Fishery Office opened a branch in Port Ellery. Ada Finch lit the "
        "second lamp of Skerry Point. The word of this paper is Yellowmeridian."
    ),
}
TWO_NAMES = (  # of each of two offices, which a text says to be one thing
    "The National Aeronautics and Space Administration (NASA) launched Apollo 11. NASA trained Neil Armstrong. "
    "The European Space Agency (ESA) wrote to Neil Armstrong. ESA praised the National Aeronautics and Space "
    "Administration. Neil Armstrong thanked the European Space Agency."
)
MARKS = {name: text.rsplit(" ", 1)[1].rstrip(".") for name, text in TEXTS.items()}
QUESTIONS = {
    "global": "What are the main themes across the papers?",
    "multi-hop": "Who owns the wood that the shipyard of Nora Blythe bought its oak from?",
    "local": "Who keeps the lighthouse of Skerry Point?",
    "comparison": "How do Ada Finch and Tom Reeve differ on the pier?",
}
UNANSWERABLE = "Which qubits did the zeppelin cosmonauts entangle?"


def papers() -> list[Document]:
    """The documents: minutes, letters and newspapers of one harbour, 2019 to 2024."""
    return [
        Document(
            name, text, name.replace("-", " "), (("kind", name[:-5]), ("year", int(name[-4:]))), f"{name[-4:]}-06-01"
        )
        for name, text in TEXTS.items()
    ]
