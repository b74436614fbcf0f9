"""Answers that relate one thing to another: causes, parts of a question, what differs, what follows."""
