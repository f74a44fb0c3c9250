"""Protocols by the names of their papers."""

from __future__ import annotations

import importlib

from mustlink.reproduce._protocol import Protocol

__all__ = ["find_protocol", "papers"]

_HOME = {
    "boostcluster": "mustlink.reproduce._boostcluster",
    "bbc": "mustlink.reproduce._bbc",
    "bckm": "mustlink.reproduce._bckm",
    "active": "mustlink.reproduce._active",
    "doubt": "mustlink.reproduce._doubt",
}


def papers() -> list[str]:
    """Return the names of the papers that can be reproduced.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from mustlink.reproduce import papers
    >>> papers()
    ['boostcluster', 'bbc', 'bckm', 'active', 'doubt']
    """
    return list(_HOME)


def find_protocol(name: str) -> Protocol:
    """Return the experiments of a paper.

    Parameters
    ----------
    name : str
        One of :func:`papers`.

    Returns
    -------
    Protocol

    Raises
    ------
    ValueError
        If there is no such paper.

    Examples
    --------
    >>> from mustlink.reproduce import find_protocol
    >>> find_protocol("bckm").source
    'M. Okabe and S. Yamada, ...'
    >>> find_protocol("kdd")
    Traceback (most recent call last):
        ...
    ValueError: There is no paper 'kdd' to reproduce; there are boostcluster, bbc, bckm, active, doubt.
    """
    if name not in _HOME:
        raise ValueError(f"There is no paper {name!r} to reproduce; there are {', '.join(_HOME)}.")
    protocol: Protocol = importlib.import_module(_HOME[name]).PROTOCOL
    return protocol
