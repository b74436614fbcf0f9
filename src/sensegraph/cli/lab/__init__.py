"""Commands that measure, reproduce and tune."""
