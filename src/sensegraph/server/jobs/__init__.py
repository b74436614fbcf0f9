"""Work on a corpus that a server starts: each job in a process of its own, one at a time for a corpus."""
