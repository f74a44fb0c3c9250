"""A table of three groups with links and labels, in a folder of its own."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def shop(tmp_path):
    """Thirty customers in three groups; the file names are those of the command's tests."""
    rng = np.random.default_rng(0)
    lines = ["who,visits,basket,note,kind"]
    for row in range(30):
        visits, basket = rng.normal(size=2) + [[0, 0], [9, 0], [0, 9]][row % 3]
        kind = ["home", "work", "both"][row % 3] if row < 9 else ""
        lines.append(f"c{row:02d},{visits:.3f},{basket:.3f},text {row},{kind}")
    (tmp_path / "shop.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "links.csv").write_text("a,b,link\nc00,c03,must\nc01,c04,must\nc00,c01,cannot\nc02,c00,cannot\n")
    return tmp_path
