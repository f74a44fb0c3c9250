"""The distance of a metric that was learned with a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mustlink._kernel import KernelWithRows
from mustlink.metric_learning._base import MahalanobisDistance


@dataclass(frozen=True)
class KernelDistance(MahalanobisDistance):
    """The distance of two rows under a metric learned with a kernel: the map is of the kernel with some rows."""

    kernel_with_rows: KernelWithRows

    def __call__(self, a: ArrayLike, b: ArrayLike) -> float:
        values = self.kernel_with_rows.transform(np.vstack([np.asarray(a), np.asarray(b)]))
        return float(np.linalg.norm(self.components @ (values[0] - values[1])))
