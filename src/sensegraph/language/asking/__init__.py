"""How questions ask for things of a kind and for causes, and how texts list and give them."""
