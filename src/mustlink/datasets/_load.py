"""Loading a data set by its name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

import numpy as np
import sklearn.datasets
from numpy.typing import NDArray
from sklearn.utils import Bunch

from mustlink.datasets._bunch import build_bunch
from mustlink.datasets._folder import DATA_VARIABLE, SUFFIX, files_in_folder, read_bunch, where
from mustlink.datasets._known_sets import FOLDER_SETS, SKLEARN_SETS, SUBSETS, Subset
from mustlink.errors import DataNotFoundError, FileFormatError

_SOURCES = ("auto", "sklearn", "folder")


def load(
    name: str, *, return_X_y: bool = False, source: str = "auto"
) -> Bunch | tuple[NDArray[Any], NDArray[np.int64] | None]:
    """Load a data set: from scikit-learn where it ships the set, else from the data folder.

    The data folder is the one that the environment variable ``MUSTLINK_DATA`` names. A set is a file ``NAME.csv.gz``
    there, with a header line and the class in the last column, ``label``.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a bunch.
    source : {"auto", "sklearn", "folder"}, default="auto"
        Where to look. The iris of UCI, for example, differs from scikit-learn's in two rows; ``source="folder"``
        loads a copy of it from the data folder.

    Returns
    -------
    Bunch or (data, target)
        The bunch has these entries.

        data : ndarray of shape (n_samples, n_features)
            float64 with NaN for missing numbers, if all columns are numbers. If some hold text, an array of
            objects: floats in the columns of numbers and ``str`` in the others, where a missing text is "" or "?",
            as in the file. An edge list is int64.
        target : ndarray of int64 of shape (n_samples,) or None
            The class, as an index into ``target_names``; None where the set has no classes.
        feature_names : list of str
            The names of the columns of ``data``.
        target_names : ndarray of str
            The classes.
        text_features : list of str
            The names of the columns that hold text and need encoding.
        name : str
            The name of the set.
        description : str
            What it is, who donated it, and what to do before clustering.

    Raises
    ------
    DataNotFoundError
        If there is no such set, or its file is not in the data folder.
    FileFormatError
        If the file is damaged.

    See Also
    --------
    fetch : Download a set from OpenML, also into the data folder.

    Examples
    --------
    >>> from mustlink.datasets import load
    >>> iris = load("iris")
    >>> iris.data.shape, [str(name) for name in iris.target_names]
    ((150, 4), ['setosa', 'versicolor', 'virginica'])
    >>> X, y = load("wine", return_X_y=True)
    >>> X.shape, y[:3]
    ((178, 13), array([0, 0, 0]))
    """
    if source not in _SOURCES:
        raise ValueError(f"source is {source!r}; expected one of {', '.join(map(repr, _SOURCES))}.")
    if not isinstance(name, str):
        raise TypeError(f"The name of a data set is a str; got {name!r} of type {type(name).__name__}.")
    if source == "sklearn" or (source == "auto" and name in SKLEARN_SETS):
        bunch = _from_sklearn(name)
    elif name in SUBSETS:
        bunch = _subset(name, SUBSETS[name])
    else:
        bunch = _from_folder(name)
    return (bunch.data, bunch.target) if return_X_y else bunch


def names() -> dict[str, bool]:
    """List the known data sets, and whether each can be loaded on this machine.

    Returns
    -------
    dict of str to bool
        The names in alphabetical order; True if the set ships with scikit-learn or its file is in the data folder.

    Examples
    --------
    >>> from mustlink.datasets import names
    >>> names()["iris"]
    True
    >>> "pendigits389" in names()
    True
    """
    present = set(files_in_folder()) | set(SKLEARN_SETS)
    present |= {name for name, subset in SUBSETS.items() if subset.parent in present}
    known = present | set(FOLDER_SETS) | set(SUBSETS)
    return {name: name in present for name in sorted(known)}


def check_present(wanted: Iterable[str], needed_by: str) -> None:
    """Raise one error that names all the files of some sets that are not on this machine.

    Parameters
    ----------
    wanted : iterable of str
        Names of sets, as in :func:`names`.
    needed_by : str
        What needs them, the first words of the error.

    Raises
    ------
    DataNotFoundError
        If a set is not known, or files are not in the data folder; the message lists all of them, and how to
        download those that OpenML has.

    See Also
    --------
    names : The known sets, and whether each is present.

    Examples
    --------
    >>> from mustlink.datasets import check_present
    >>> check_present(["iris", "wine"], "My experiment")
    """
    present = names()
    absent = [name for name in dict.fromkeys(wanted) if not present.get(name, False)]
    files = list(dict.fromkeys(SUBSETS[name].parent if name in SUBSETS else name for name in absent))
    unknown = [name for name in files if name not in FOLDER_SETS]
    if unknown:
        raise DataNotFoundError(_unknown(unknown[0]))
    if files:
        raise DataNotFoundError(_all_absent(files, needed_by))


def _from_sklearn(name: str) -> Bunch:
    """Load a set that scikit-learn ships."""
    if name not in SKLEARN_SETS:
        raise DataNotFoundError(
            f"scikit-learn does not ship the data set {name!r}; "
            f"those loaded from it are {', '.join(sorted(SKLEARN_SETS))}."
        )
    loader, description = SKLEARN_SETS[name]
    given = getattr(sklearn.datasets, loader)()
    return build_bunch(
        name,
        f"{description} Loaded by sklearn.datasets.{loader}.",
        np.asarray(given.data, dtype=np.float64),
        np.asarray(given.target, dtype=np.int64),
        feature_names=[str(feature) for feature in given.feature_names],
        target_names=[str(label) for label in given.target_names],
    )


def _from_folder(name: str) -> Bunch:
    """Read a known set, or a user's own file, from the data folder."""
    path, known = files_in_folder().get(name), FOLDER_SETS.get(name)
    if path is None:
        raise DataNotFoundError(_absent(name) if known else _unknown(name))
    return read_bunch(path, name, known.description if known else f"Read from {path.name}.")


def _subset(name: str, subset: Subset) -> Bunch:
    """Keep some classes, or the first rows of each class, of a set in the data folder."""
    whole = _from_folder(subset.parent)
    classes = subset.classes or tuple(whole.target_names)
    absent = [label for label in classes if label not in whole.target_names]
    if absent:
        raise FileFormatError(
            f"{files_in_folder()[subset.parent]} has no rows of class {', '.join(absent)}, which {name!r} needs. "
            "Copy the whole file again."
        )
    codes = [int(np.flatnonzero(whole.target_names == label)[0]) for label in classes]
    members = [np.flatnonzero(whole.target == code)[: subset.rows_per_class] for code in codes]
    rows = np.sort(np.concatenate(members))
    kept, target = np.unique(whole.target[rows], return_inverse=True)
    return build_bunch(
        name,
        subset.description,
        whole.data[rows],
        target.astype(np.int64),
        feature_names=whole.feature_names,
        target_names=[str(label) for label in whole.target_names[kept]],
        text_features=whole.text_features,
    )


def _unknown(name: str) -> str:
    """Return a sentence about a name that is neither known nor that of a file."""
    if name in SKLEARN_SETS:
        return (
            f"The data set {name!r} was not loaded: {where(name)}. Leave source='folder' out to load it from "
            "scikit-learn."
        )
    known = list(names())
    near = difflib.get_close_matches(name, known, n=3)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Known are {', '.join(known)}."
    return (
        f"There is no data set {name!r}: {where(name)}. {hint} Other sets can be downloaded from OpenML by "
        "mustlink.datasets.fetch."
    )


def _absent(name: str) -> str:
    """Return a sentence about a known set that is not on this machine, and how to get it."""
    fetching = (
        f"or download it from OpenML into that folder with mustlink.datasets.{_call_of_fetch(name)}"
        if FOLDER_SETS[name].openml
        else "or look on OpenML for a similar set that mustlink.datasets.fetch can download"
    )
    return (
        f"The data set {name!r} is known but not on this machine: {where(name)}. Set the environment variable "
        f"{DATA_VARIABLE} to the folder that holds it, {fetching}."
    )


def _all_absent(files: list[str], needed_by: str) -> str:
    """Return sentences about all the files that are not on this machine, and how to get them."""
    count, them = ("1 data file that is", "it") if len(files) == 1 else (f"{len(files)} data files that are", "them")
    listed = ", ".join(f"{name}{SUFFIX}" for name in files)
    on_openml = [name for name in files if FOLDER_SETS[name].openml]
    sentences = [
        f"{needed_by} needs {count} not on this machine: {listed} ({where()}).",
        f"Set the environment variable {DATA_VARIABLE} to the folder that holds {them}.",
    ]
    if on_openml:
        sentences.append(
            f"OpenML has {', '.join(on_openml)}: with the variable set, download into that folder with this Python: "
            f"from mustlink.datasets import fetch; {'; '.join(map(_call_of_fetch, on_openml))}"
        )
    return " ".join(sentences)


def _call_of_fetch(name: str) -> str:
    """Return the call that downloads a set into the data folder."""
    return f"fetch({FOLDER_SETS[name].openml!r}, save_as={name!r})"
