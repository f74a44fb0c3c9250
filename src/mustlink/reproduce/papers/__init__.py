"""One module per paper, each with its ``PROTOCOL``."""
