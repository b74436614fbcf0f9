"""Servers over a corpus: the tools of the Model Context Protocol. A leaf: only the command line imports it."""
