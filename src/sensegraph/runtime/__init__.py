"""Keys, steps, results, and the runtime that remembers them."""
