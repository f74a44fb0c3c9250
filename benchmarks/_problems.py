"""Tables of overlapping clusters with links drawn from their classes, and their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


def overlapping_blobs(
    n_rows: int, n_pairs: int, *, n_features: int = 16, spread: float = 4.0, noise: float = 0.0, seed: int = 0
) -> tuple[Any, Any, Any]:
    """Return rows of ten clusters, their classes, and links, of which a fraction is wrong."""
    from sklearn.datasets import make_blobs

    from mustlink import Constraints

    X, y = make_blobs(n_rows, n_features, centers=10, cluster_std=spread, center_box=(-6, 6), random_state=seed)
    return X, y, Constraints.sample(y, n_pairs=n_pairs, noise=noise, random_state=seed)


def starting_centers(X: Any, seed: int = 0) -> Any:
    """Return ten rows drawn at random."""
    return X[np.random.RandomState(seed).permutation(len(X))[:10]]


def save_problem(path: Path, X: Any, links: Any, **more: Any) -> Path:
    """Write rows, links and other arrays into one file."""
    np.savez(path, X=X, must_link=links.must_link, cannot_link=links.cannot_link, **more)
    return path


def linked_rows(data: dict[str, Any], n_more: int = 0) -> dict[str, Any]:
    """Return the problem of the linked rows, and of the first rows, to meet every kernel in a short fit."""
    linked = np.concatenate([data["must_link"], data["cannot_link"]]).ravel()
    rows = np.union1d(linked, np.arange(n_more))
    pairs = {kind: np.searchsorted(rows, data[kind]) for kind in ("must_link", "cannot_link")}
    return data | pairs | {"X": data["X"][rows]}


def is_broken(data: dict[str, Any], labels: Any) -> Any:
    """Return for every link whether labels break it."""
    must, cannot = labels[data["must_link"]], labels[data["cannot_link"]]
    return np.concatenate([must[:, 0] != must[:, 1], cannot[:, 0] == cannot[:, 1]])
