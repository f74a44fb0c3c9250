"""What all pictures share: the import of matplotlib, colors and markers."""

from __future__ import annotations

from typing import Any

__all__ = ["COLORS", "DARK", "GRAY", "MARKERS", "pyplot"]

# The palette of Okabe and Ito for color-blind readers, its yellow darkened for a white background.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B2A800")
# As many markers as colors, since color alone must not carry the meaning.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

GRAY = "#8A8A8A"
DARK = "#333333"


def pyplot() -> Any:
    """Import matplotlib's pyplot, or name the extra to install."""
    try:
        import matplotlib.pyplot
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'Plots need matplotlib, which is not installed; install it with: pip install "mustlink[plot]"',
            name=error.name,
        ) from error
    return matplotlib.pyplot
