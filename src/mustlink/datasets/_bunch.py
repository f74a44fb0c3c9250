"""The form in which all data sets are returned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import Bunch

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
    """Return a data set whose description lists what has to be done before clustering."""
    sentences = [description]
    if text_features:
        sentences.append(_ENCODING.format(columns=", ".join(text_features)))
    # NaN is the only value that differs from itself, also among objects.
    n_missing = np.count_nonzero(data != data) if isinstance(data, np.ndarray) else 0
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


def to_array(frame: pd.DataFrame, missing_text: str) -> tuple[NDArray[Any], list[str]]:
    """Return float64 if all columns are numbers, else objects; and the names of the columns that hold text."""
    text_features = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    if not text_features:
        return frame.to_numpy(dtype=np.float64), []
    columns = {
        name: column.astype(object).where(column.notna(), missing_text)
        if name in text_features
        else column.astype(np.float64)
        for name, column in frame.items()
    }
    return pd.DataFrame(columns).to_numpy(dtype=object), text_features


def number_classes(labels: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Number the classes from 0 in the order of their names; whole numbers are ordered as numbers."""
    whole = all(label.removeprefix("-").isdecimal() for label in set(labels))
    ordered = sorted(set(labels), key=int if whole else None)
    return pd.Categorical(labels, categories=ordered).codes.astype(np.int64), ordered
