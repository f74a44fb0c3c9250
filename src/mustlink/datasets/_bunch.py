"""The one shape in which all data sets are handed out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

__all__ = ["build_bunch", "numbered_classes", "stacked"]

_ENCODING = (
    "These columns hold text: {columns}. Encode them before clustering: categories for example with "
    "sklearn.preprocessing.OneHotEncoder, free text with sklearn.feature_extraction.text.TfidfVectorizer; "
    "leave identifiers out."
)


def build_bunch(
    name: str,
    description: str,
    data: Any,
    target: NDArray[Any] | None,
    *,
    feature_names: Sequence[str],
    target_names: Sequence[str],
    text_features: Sequence[str] = (),
) -> Bunch:
    """Put a data set together, and say in its description what has to be done before clustering."""
    sentences = [description]
    if text_features:
        sentences.append(_ENCODING.format(columns=", ".join(text_features)))
    n_missing = _count_missing(data)
    if n_missing:
        sentences.append(f"Missing numbers are NaN ({n_missing} in all).")
    if target is None:
        sentences.append("There are no classes: target is None.")
    return Bunch(
        data=data,
        target=target,
        feature_names=list(feature_names),
        target_names=np.array(target_names, dtype=np.str_),
        text_features=list(text_features),
        name=name,
        description=" ".join(sentences),
    )


def stacked(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Make one array of columns: of their number type if all are numbers, of objects if some hold text."""
    if all(column.dtype != object for column in columns):
        return np.column_stack(columns)
    data = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        data[:, j] = column
    return data


def numbered_classes(labels: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Number the classes from 0 in the order of their names, which for whole numbers is the order of the numbers."""
    found = set(labels)
    ordered = sorted(found, key=int) if all(_is_whole(label) for label in found) else sorted(found)
    number = {label: code for code, label in enumerate(ordered)}
    return np.array([number[label] for label in labels], dtype=np.int64), ordered


def _is_whole(label: str) -> bool:
    """Say whether a label is the usual writing of a whole number."""
    return label.removeprefix("-").isdecimal()


def _count_missing(data: Any) -> int:
    """Count the cells that are not a number; NaN is the only value that differs from itself."""
    if not isinstance(data, np.ndarray):
        return 0
    return int(np.count_nonzero(data != data))
