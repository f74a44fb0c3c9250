"""DCA: discriminative component analysis."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh

from mustlink._eigen import fix_signs
from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Floats
from mustlink.constraints import Closure, Constraints
from mustlink.metric_learning._base import BaseLinkedMetric, warn_of_identity
from mustlink.metric_learning._scatter import Units, WithinComponents, group_means, shrink


class DCA(BaseLinkedMetric):
    """Discriminative component analysis (Hoi, Liu, Lyu and Ma 2006).

    Finds the directions of the largest scatter between cannot-linked components relative to the scatter within
    must-link components, and reduces X to these directions.

    Parameters
    ----------
    n_components : int or None, default=None
        The maximum number of directions, best first. None keeps all in which cannot-linked components differ.
    shrinkage : float or "auto", default="auto"
        The weight, from 0 to 1, of a multiple of the identity that is mixed into the scatter of the must-linked rows,
        with all features scaled to unit variance. "auto" is d / (d + m) with d features and m independent
        must-links. 0 is the method as published, which needs more must-links than features.

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
        The names of the features, if X has any.

    See Also
    --------
    RCA : From must-links only.
    ITML : Keeps all directions, and uses weights.

    Notes
    -----
    With m_j the mean of must-link component j (single rows included), C_b is the mean of (m_i - m_j)(m_i - m_j)' over
    all pairs of cannot-linked components, and C_w the mean covariance of the components of two and more rows. The
    directions are the generalized eigenvectors C_b w = ratio C_w w with w' C_w w = 1. The paper searches only
    combinations of the differences m_i - m_j; the eigenvectors here are optimal among all directions. Weights of links,
    and cannot-links within a component, are not used.

    Without links the metric is the Euclidean one, and likewise, with a warning, without must-links between different
    rows or cannot-links between different components.

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
        units, closure = Units.of(X), links.closure(X.shape[0])
        within = WithinComponents.of(X, closure.component, units)
        apart = _differences_between(X, closure, units)
        if not within.residual.any():
            return warn_of_identity("DCA", "must-links between different rows", links, n_features)
        if not apart.any():
            return warn_of_identity("DCA", "cannot-links between different components", links, n_features)
        share = 1.0 / (len(within.size) * within.size[within.number])
        scatter = (within.residual.T * share) @ within.residual
        scatter = shrink(scatter, self.shrinkage, within.n_independent, X.dtype)
        ratios, directions = eigh(apart.T @ apart / len(apart), scatter)
        kept = np.flatnonzero(ratios > ratios[-1] * len(ratios) * np.finfo(X.dtype).eps)[::-1][: self.n_components]
        self.ratios_ = ratios[kept]
        return units.of_all_features(fix_signs(directions[:, kept]).T)


def _differences_between(X: Any, closure: Closure, units: Units) -> Floats:
    """Return the difference of the means of each two cannot-linked components."""
    components, places = np.unique(closure.cannot_link, return_inverse=True)
    number = np.full(closure.n_components, -1, dtype=np.intp)
    number[components] = np.arange(len(components))
    rows = np.flatnonzero(number[closure.component] >= 0)
    means = group_means(units.rows(X, rows), number[closure.component[rows]], len(components))
    first, second = places.reshape(-1, 2).T
    return means[first] - means[second]
