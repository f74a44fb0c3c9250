"""The labels of a fit: known classes with weights, and what is said of too few of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from mustlink._sklearn_compat import check_sample_weight
from mustlink._types import Array, Floats, Indices
from mustlink.base import check_labels
from mustlink.constraints import known_rows


@dataclass(frozen=True)
class Labels:
    """The rows with a known class, the numbers of their classes, their weights, and the classes."""

    rows: Indices
    codes: Indices
    weight: Floats
    classes: Array

    @property
    def n_problems(self) -> int:
        """How many problems of two sides are solved: one for two classes, otherwise one for each class."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def is_positive(self, problem: int) -> Any:
        """Whether each row is on the positive side; of two classes the second is."""
        return self.codes == (1 if self.n_problems == 1 else problem)


def known_labels(y: ArrayLike, n_samples: int) -> tuple[Indices, Indices, Array]:
    """Return the rows with a known class, the numbers of their classes, and the classes in the type of labels."""
    labels = check_labels(y, n_samples)
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError("Input y contains infinity; labels are classes, and -1, None or NaN mark unknown ones.")
    rows, codes, classes = known_rows(labels)
    if classes.dtype == object:
        # An array with None holds objects; the classes themselves are text or numbers.
        classes = np.array(classes.tolist())
    if len(classes):
        check_classification_targets(classes[codes])
    return rows, codes, classes


def read_labels(
    name: str,
    y: ArrayLike | None,
    X: Any,
    sample_weight: ArrayLike | None,
    class_weight: Mapping[Any, float] | str | None,
) -> tuple[Labels, Floats]:
    """Validate labels and weights; return the labels, without those of weight zero, and the weights of all rows."""
    if y is None:
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None; links alone do not say which class is which. "
            "Label at least one row of each class, and leave the others -1."
        )
    n_samples = X.shape[0]
    rows, codes, classes = known_labels(y, n_samples)
    weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    kept = weight[rows] > 0
    rows, codes = rows[kept], codes[kept]
    seen = np.unique(codes)
    refuse_few_classes(name, classes[seen])
    classes, codes = classes[seen], np.searchsorted(seen, codes)
    own = weight[rows]
    if class_weight is not None:
        per_class = compute_class_weight(class_weight, classes=classes, y=classes[codes], sample_weight=own)
        own = own * per_class[codes]
    return Labels(rows, codes, own, classes), weight


def refuse_few_classes(name: str, classes: Array) -> None:
    """Refuse labels of fewer than two classes."""
    if len(classes) == 0:
        raise ValueError(
            f"{name} needs labels of at least two classes, and no row has a label (of positive weight); links alone do "
            "not say which class is which. Label at least one row of each class, and leave the others -1."
        )
    if len(classes) == 1:
        raise ValueError(
            f"{name} needs labels of at least two classes, and all labels are of one class, {classes.tolist()[0]!r}; "
            "label at least one row of another class (-1 is no class: it marks unknown labels)."
        )
