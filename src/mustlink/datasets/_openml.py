"""Bringing a data set from OpenML."""

from __future__ import annotations

import os
import warnings
from http.client import HTTPException
from typing import Any

import numpy as np
import sklearn.datasets
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from mustlink.datasets._bunch import build_bunch, numbered_classes, stacked
from mustlink.errors import DataNotFoundError

__all__ = ["fetch"]

_MISSING_CATEGORY = "?"
_RETRIES = "A network error occurred|Downloaded file could have been corrupted|Invalid cache, redownloading"


def fetch(
    name_or_id: str | int,
    *,
    version: int | str = "active",
    cache: bool | str | os.PathLike[str] = True,
    target_column: str | None = "default-target",
) -> Bunch:
    """Bring a data set from OpenML, in the shape that :func:`load` gives.

    This needs a network the first time. Later calls are answered from the cache.

    Parameters
    ----------
    name_or_id : str or int
        The name of the set, or its number, which is the safer way: several sets may share a name.
    version : int or "active", default="active"
        The version to take where a name is given; "active" is the oldest one in use.
    cache : bool, str or path-like, default=True
        True keeps what was brought in scikit-learn's data folder, a path in that folder, False nowhere.
    target_column : str or None, default="default-target"
        The column that holds the classes; None if there is none. By default the one that OpenML names.

    Returns
    -------
    Bunch
        The entries that :func:`load` lists. Nominal columns are text, with "?" for a missing value; a nominal
        target is numbered, a numeric one is kept as it is, without ``target_names``. A set stored sparsely gives a
        sparse ``data``, with nominal columns as the numbers that OpenML's format gives them.

    Raises
    ------
    DataNotFoundError
        If OpenML cannot be reached, does not have the set, or has it in a form that is not a table of numbers and
        nominal values.

    See Also
    --------
    load : Load what scikit-learn ships or a data folder holds.

    Examples
    --------
    >>> from mustlink.datasets import fetch
    >>> ionosphere = fetch(59)  # doctest: +SKIP
    >>> ionosphere.data.shape  # doctest: +SKIP
    (351, 34)
    """
    wanted = _wanted(name_or_id, version)
    try:
        given = _ask(wanted, cache, target_column)
    except (OSError, HTTPException) as error:
        reason = str(error) or type(error).__name__
        raise DataNotFoundError(
            f"The data set {name_or_id!r} could not be brought from OpenML: {reason}. Check the network and try "
            "again, or use mustlink.datasets.load with a data folder, which needs none."
        ) from error
    except (ValueError, KeyError) as error:
        raise DataNotFoundError(
            f"OpenML was reached, but the data set {name_or_id!r} could not be taken from it: {error}"
        ) from error
    return _as_bunch(given)


def _wanted(name_or_id: str | int, version: int | str) -> dict[str, Any]:
    """Check the name or number, and say it in the words of scikit-learn."""
    if isinstance(name_or_id, (int, np.integer)) and not isinstance(name_or_id, bool):
        if name_or_id < 1:
            raise ValueError(f"Data sets of OpenML are numbered from 1; got {name_or_id}.")
        if version != "active":
            raise ValueError(
                f"The number {name_or_id} already stands for one version; leave version={version!r} out, "
                "or give the name of the set."
            )
        return {"data_id": int(name_or_id)}
    if not isinstance(name_or_id, str) or not name_or_id.strip():
        raise ValueError(f"A data set is asked for by its name or its number on OpenML; got {name_or_id!r}.")
    if version != "active" and not (isinstance(version, (int, np.integer)) and version >= 1):
        raise ValueError(f"version is {version!r}; expected 'active' or a whole number from 1.")
    return {"name": name_or_id, "version": version}


def _ask(wanted: dict[str, Any], cache: bool | str | os.PathLike[str], target_column: str | None) -> Bunch:
    """Let scikit-learn download the set, or take it from the cache."""
    keep = cache is not False
    data_home = None if isinstance(cache, bool) else os.fspath(cache)
    with warnings.catch_warnings():
        # Each new try is announced by a warning; what counts is whether the last one fails, and that is an error.
        warnings.filterwarnings("ignore", message=_RETRIES)
        return sklearn.datasets.fetch_openml(
            **wanted,
            cache=keep,
            data_home=data_home,
            target_column=target_column,
            as_frame=False,
            parser="liac-arff",  # the parser that does without pandas
        )


def _as_bunch(given: Bunch) -> Bunch:
    """Bring scikit-learn's answer into our shape."""
    categories = given.categories or {}
    data, text_features = given.data, []
    if not sparse.issparse(data):
        text_features = [feature for feature in given.feature_names if feature in categories]
        columns = [
            _decoded(data[:, j], categories[feature]) if feature in categories else data[:, j]
            for j, feature in enumerate(given.feature_names)
        ]
        data = stacked(columns)
    target, target_names = _target(given.target)
    return build_bunch(
        str(given.details["name"]),
        given.DESCR,
        data,
        target,
        feature_names=given.feature_names,
        target_names=target_names,
        text_features=text_features,
    )


def _decoded(codes: NDArray[np.float64], categories: list[str]) -> NDArray[np.object_]:
    """Put the words back for the numbers of a nominal column."""
    words = np.array([*categories, _MISSING_CATEGORY], dtype=object)
    return words[np.where(np.isnan(codes), len(categories), codes).astype(np.intp)]


def _target(values: NDArray[Any] | None) -> tuple[NDArray[Any] | None, list[str]]:
    """Number the classes of a nominal target; leave a numeric one as it is."""
    if values is None:
        return None, []
    if values.dtype.kind in "fiu":
        return values, []
    return numbered_classes([str(value) for value in values])
