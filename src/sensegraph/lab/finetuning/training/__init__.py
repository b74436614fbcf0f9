"""Training, and what comes of it."""
