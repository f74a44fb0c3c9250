"""Columns of files of categories: the category of each text, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mustlink._types import Floats, Ints

__all__ = ["CERTAINTY_COLUMNS", "frame_categories"]

CERTAINTY_COLUMNS = ["similarity", "runner_up", "margin"]
# Of the cosines that are written.
DECIMALS = 4


def frame_categories(
    names: Sequence[str], labels: Ints, similarity: Floats, runner_up: Ints, margin: Floats
) -> pd.DataFrame:
    """Return a row for every text: its category, and how sure it is; all are empty for a text in no category."""
    # The last one is for no category, -1.
    cells = np.array([*names, None], dtype=object)
    frame = pd.DataFrame(
        {
            "category": cells[labels],
            "similarity": np.round(similarity, DECIMALS),
            "runner_up": cells[runner_up],
            "margin": np.round(margin, DECIMALS),
        }
    )
    frame.loc[labels < 0, CERTAINTY_COLUMNS] = None
    return frame
