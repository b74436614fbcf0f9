"""`python -m sensegraph` is the command `sensegraph`."""

from __future__ import annotations

from sensegraph.cli import main

if __name__ == "__main__":
    main()
