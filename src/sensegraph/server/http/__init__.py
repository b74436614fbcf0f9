"""`sensegraph serve`: corpora over HTTP, for programs and for a page. Needs the extra `server`."""
