"""Teach a clustering by hand, in a browser or a notebook."""

from mustlink.studio._layout import SpringConstants, SpringLayout

__all__ = ["SpringConstants", "SpringLayout"]
