"""What all pictures share: where matplotlib comes from, and colours and markers that can be told apart."""

from __future__ import annotations

from typing import Any

__all__ = ["COLOURS", "DARK", "GREY", "MARKERS", "pyplot"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B2A800")
"""The palette of Okabe and Ito, its yellow darkened so that it shows on white."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""As many markers, so that nothing hangs on colour alone."""

GREY = "#8A8A8A"
DARK = "#333333"


def pyplot() -> Any:
    """Import matplotlib's pyplot, or say which extra brings it."""
    try:
        import matplotlib.pyplot
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'Pictures need matplotlib, which is not installed; install it with: pip install "mustlink[plot]"',
            name=error.name,
        ) from error
    return matplotlib.pyplot
