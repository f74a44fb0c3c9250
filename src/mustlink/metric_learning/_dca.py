"""DCA: the directions in which cannot-linked components lie apart most, against the scatter within."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh

from mustlink._sklearn_compat import Interval, StrOptions
from mustlink.constraints import Constraints
from mustlink.metric_learning._base import BaseLinkedMetric, Floats, warn_of_identity
from mustlink.metric_learning._scatter import Chunklets, Units, group_means, regular


class DCA(BaseLinkedMetric):
    """Discriminative component analysis (Hoi, Liu, Lyu and Ma 2006).

    Keeps the directions in which must-link components that are cannot-linked lie far from each other, measured by how
    much rows within components scatter. It reduces the table: there are as many directions as cannot-links speak of.

    Parameters
    ----------
    n_components : int or None, default=None
        How many directions to keep at most, the best first. None keeps all in which cannot-linked components differ.
    shrinkage : float or "auto", default="auto"
        The share, from 0 to 1, of a round scatter that is mixed into the scatter of the must-linked rows. "auto" is
        d / (d + m) with d features and m independent must-links, so that it is felt where links are few. 0 is the
        method as published, which needs more must-links than features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map of ``transform``, one row for each direction.
    metric_matrix_ : ndarray of shape (n_features, n_features)
        The matrix A of the metric.
    ratios_ : ndarray of shape (n_components,)
        The scatter between cannot-linked components over the scatter within components, for each direction.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table had any.

    See Also
    --------
    RCA : From must-links only.
    ITML : Keeps all directions, and heeds weights.

    Notes
    -----
    With m_j the mean of must-link component j, single rows with a cannot-link among them, C_b is the mean of
    (m_i - m_j)(m_i - m_j)' over all pairs of components with a cannot-link between them, and C_w the mean over the
    components of two rows and more of their covariance. The directions are the generalised eigenvectors C_b w = ratio
    C_w w with w' C_w w = 1. The paper solves the same problem in two steps and so looks only among combinations of the
    differences m_i - m_j; the eigenvectors here are the best of all directions. Weights of links play no part, and
    cannot-links within a component are left out.

    Without links the metric is the Euclidean one, and likewise, with a warning, where must-links between different
    rows or cannot-links between different components are missing.

    References
    ----------
    S. C. H. Hoi, W. Liu, M. R. Lyu and W.-Y. Ma, "Learning distance metrics with contextual constraints for image
    retrieval", CVPR 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.metric_learning import DCA
    >>> X = np.array([[0.0, 0.0], [0.0, 4.0], [1.0, 0.0], [1.2, 4.0]])
    >>> links = Constraints(must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2)])
    >>> DCA().fit_transform(X, constraints=links).shape
    (4, 1)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
    }

    def __init__(self, n_components: int | None = None, *, shrinkage: float | str = "auto") -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage

    def _learn(self, X: Any, links: Constraints) -> Floats:
        n_features = X.shape[1]
        self.ratios_ = np.ones(n_features)
        if links.is_empty:
            return np.eye(n_features)
        units = Units.of(X)
        chunklets = Chunklets.of(X, links, units)
        apart = _apart(X, links, units)
        if not chunklets.residual.any():
            return warn_of_identity("DCA", "must-links between different rows", links, n_features)
        if not apart.any():
            return warn_of_identity("DCA", "cannot-links between different components", links, n_features)
        share = 1.0 / (len(chunklets.size) * chunklets.size[chunklets.number])
        within = regular(
            (chunklets.residual.T * share) @ chunklets.residual, self.shrinkage, chunklets.n_known, X.dtype
        )
        ratios, directions = eigh(apart.T @ apart / len(apart), within)
        kept = np.flatnonzero(ratios > ratios[-1] * len(ratios) * np.finfo(X.dtype).eps)[::-1][: self.n_components]
        self.ratios_ = ratios[kept]
        return units.of_all_features(_with_one_sign(directions[:, kept].T))


def _apart(X: Any, links: Constraints, units: Units) -> Floats:
    """Return the difference of the means of each two components with a cannot-link between them."""
    closure = links.closure(X.shape[0])
    named, places = np.unique(closure.cannot_link, return_inverse=True)
    number = np.full(closure.n_components, -1, dtype=np.intp)
    number[named] = np.arange(len(named))
    rows = np.flatnonzero(number[closure.component] >= 0)
    means = group_means(units.rows(X, rows), number[closure.component[rows]], len(named))
    first, second = places.reshape(-1, 2).T
    return means[first] - means[second]


def _with_one_sign(components: Floats) -> Floats:
    """Turn every direction so that its largest entry is positive: which way the solver finds it is chance."""
    largest = np.abs(components).argmax(axis=1)
    return components * np.sign(components[np.arange(len(components)), largest])[:, None]
