"""Sensegraph in other frameworks. Each module is imported by name and needs the extra of its name."""
