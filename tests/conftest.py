"""Shared by all tests. This file also puts `tests/` on the path, so that any test can import `scripted`."""
