"""When what a text says was true: dates as people write them, intervals with unknown ends, and how facts close others.

Pure functions over strings and small values; no I/O (specification: valid time, N90).
"""
