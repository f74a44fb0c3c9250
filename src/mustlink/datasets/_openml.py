"""Downloading a data set from OpenML."""

from __future__ import annotations

import os
import warnings
from http.client import HTTPException
from typing import Any

import numpy as np
import pandas as pd
import sklearn.datasets
from sklearn.utils import Bunch

from mustlink.datasets._bunch import build_bunch, number_classes, to_array
from mustlink.datasets._folder import path_to_save, write_bunch
from mustlink.errors import DataNotFoundError

_MISSING_CATEGORY = "?"
_RETRIES = "A network error occurred|Downloaded file could have been corrupted|Invalid cache, redownloading"


def fetch(
    name_or_id: str | int,
    *,
    version: int | str = "active",
    cache: bool | str | os.PathLike[str] = True,
    target_column: str | None = "default-target",
    save_as: str | None = None,
) -> Bunch:
    """Download a data set from OpenML, in the form that :func:`load` returns.

    This needs a network the first time. Later calls read the cache.

    Parameters
    ----------
    name_or_id : str or int
        The name of the set, or its number, which is safer: several sets may share a name.
    version : int or "active", default="active"
        The version to take where a name is given; "active" is the oldest one in use.
    cache : bool, str or path-like, default=True
        True keeps the download in scikit-learn's data folder, a path in that folder, False nowhere.
    target_column : str or None, default="default-target"
        The column that holds the classes; None if there is none. By default the one that OpenML names.
    save_as : str or None, default=None
        Also write the set into the data folder, the one that the environment variable ``MUSTLINK_DATA`` names, as
        ``NAME.csv.gz``; :func:`load` then reads it under this name. A file of that name is replaced.

    Returns
    -------
    Bunch
        The entries that :func:`load` lists. Nominal columns are text, with "?" for a missing value; a nominal
        target is numbered, a numeric one is kept as it is, without ``target_names``. A set stored sparsely gives a
        sparse ``data``, with nominal columns as the numbers of OpenML's format.

    Raises
    ------
    DataNotFoundError
        If OpenML cannot be reached, does not have the set, or has it in a form that scikit-learn cannot read; or if
        the set is to be saved and ``MUSTLINK_DATA`` is not set.

    See Also
    --------
    load : Load a set from scikit-learn or from a data folder.

    Examples
    --------
    >>> from mustlink.datasets import fetch
    >>> ionosphere = fetch(59)  # doctest: +SKIP
    >>> ionosphere.data.shape  # doctest: +SKIP
    (351, 34)

    To have it in the data folder, for :func:`load` and for ``mustlink reproduce``:

    >>> ionosphere = fetch("ionosphere", save_as="ionosphere")  # doctest: +SKIP
    """
    path = None if save_as is None else path_to_save(save_as)
    wanted = _check_wanted(name_or_id, version)
    try:
        with warnings.catch_warnings():
            # scikit-learn warns before each new attempt; if the last one fails, it raises.
            warnings.filterwarnings("ignore", message=_RETRIES)
            given = sklearn.datasets.fetch_openml(
                **wanted,
                cache=cache is not False,
                data_home=None if isinstance(cache, bool) else os.fspath(cache),
                target_column=target_column,
                as_frame="auto",
                parser="auto",
            )
    except (OSError, HTTPException) as error:
        reason = str(error) or type(error).__name__
        raise DataNotFoundError(
            f"The data set {name_or_id!r} could not be downloaded from OpenML: {reason}. Check the network and try "
            "again, or use mustlink.datasets.load with a data folder."
        ) from error
    except (ValueError, KeyError) as error:
        raise DataNotFoundError(
            f"OpenML was reached, but the data set {name_or_id!r} could not be loaded from it: {error}"
        ) from error
    bunch = _as_bunch(given)
    if path is not None:
        write_bunch(bunch, path)
    return bunch


def _check_wanted(name_or_id: str | int, version: int | str) -> dict[str, Any]:
    """Check the name or number, and return scikit-learn's arguments for it."""
    if isinstance(name_or_id, (int, np.integer)) and not isinstance(name_or_id, bool):
        if name_or_id < 1:
            raise ValueError(f"Data sets of OpenML are numbered from 1; got {name_or_id}.")
        if version != "active":
            raise ValueError(
                f"The number {name_or_id} already denotes one version; leave version={version!r} out, "
                "or give the name of the set."
            )
        return {"data_id": int(name_or_id)}
    if not isinstance(name_or_id, str) or not name_or_id.strip():
        raise ValueError(f"name_or_id is {name_or_id!r}; expected the name or the number of a data set on OpenML.")
    if version != "active" and not (isinstance(version, (int, np.integer)) and version >= 1):
        raise ValueError(f"version is {version!r}; expected 'active' or a whole number from 1.")
    return {"name": name_or_id, "version": version}


def _as_bunch(given: Bunch) -> Bunch:
    """Convert scikit-learn's answer: a data frame, or a sparse array."""
    data = given.data
    text_features: list[str] = []
    target_names: list[str] = []
    if isinstance(data, pd.DataFrame):
        data, text_features = to_array(data, missing_text=_MISSING_CATEGORY)
    target = given.target
    if target is not None and not pd.api.types.is_numeric_dtype(target):
        labels = pd.Series(target, dtype=object).fillna(_MISSING_CATEGORY)
        target, target_names = number_classes([str(label) for label in labels])
    return build_bunch(
        str(given.details["name"]),
        given.DESCR,
        data,
        None if target is None else np.asarray(target),
        feature_names=given.feature_names,
        target_names=target_names,
        text_features=text_features,
    )
