"""All things of a kind, and how many there are: names are found beside the noun, dated, and listed."""
