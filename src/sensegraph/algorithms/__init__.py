"""Arrays in, arrays out: no I/O, no protocols."""
