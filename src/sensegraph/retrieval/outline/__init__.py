"""The outline of a corpus: what it is about as a whole, read off its phrases, names and headings when it is built."""
