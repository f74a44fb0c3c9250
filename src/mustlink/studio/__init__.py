"""Teach a clustering by hand, in a browser or a notebook."""
