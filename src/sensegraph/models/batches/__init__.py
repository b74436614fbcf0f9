"""Chat requests of a build in batches: cheaper, and answered within a day."""
