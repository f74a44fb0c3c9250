"""Every exception and warning that mustlink raises on purpose.

Each one is a sentence that says what was given, what was expected and where. All exceptions derive from
:class:`MustlinkError`, and from the built-in exception a scikit-learn user would catch.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "ConstraintError",
    "DataNotFoundError",
    "FileFormatError",
    "InfeasibleError",
    "InfeasibleWarning",
    "MustlinkError",
    "TooLargeError",
    "UnmetConstraintsWarning",
]


class MustlinkError(Exception):
    """The parent of all exceptions of mustlink."""


class ConstraintError(MustlinkError, ValueError):
    """The constraints as given cannot be used.

    Parameters
    ----------
    message : str
        What is wrong, as a sentence.
    pairs : sequence of (int, int), default=()
        The offending pairs, for a program that wants to show them.

    Examples
    --------
    >>> from mustlink import Constraints
    >>> Constraints(must_link=[(3, 3)])
    Traceback (most recent call last):
        ...
    mustlink.errors.ConstraintError: A must-link joins row 3 with itself; a link needs two different rows.
    """

    def __init__(self, message: str, pairs: Sequence[tuple[int, int]] = ()) -> None:
        super().__init__(message)
        self.pairs = list(pairs)


class InfeasibleError(MustlinkError, ValueError):
    """No clustering that keeps every constraint exists, or none was found.

    Parameters
    ----------
    message : str
        The reason, as a sentence.
    pairs : sequence of (int, int), default=()
        The cannot-links that could not be kept, where they are known.
    """

    def __init__(self, message: str, pairs: Sequence[tuple[int, int]] = ()) -> None:
        super().__init__(message)
        self.pairs = list(pairs)


class FileFormatError(MustlinkError, ValueError):
    """A file is not what it should be; the message names the file and, where it is known, the line."""


class DataNotFoundError(MustlinkError, LookupError):
    """A data set is not known, or is known but not on this machine."""


class TooLargeError(MustlinkError, ValueError):
    """The work asked for would not fit into memory; the message states the size."""


class InfeasibleWarning(UserWarning):
    """A hard clusterer was told to relax and returned a clustering that breaks some constraints."""


class UnmetConstraintsWarning(UserWarning):
    """A soft clusterer could not follow the constraints, and says how far it came."""
