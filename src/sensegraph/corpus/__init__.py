"""A corpus on disk: the façade of the package, and what it is made of."""
