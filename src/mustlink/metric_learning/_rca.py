"""RCA: relevant component analysis."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Floats
from mustlink.constraints import Constraints
from mustlink.metric_learning._base import BaseLinkedMetric, warn_of_identity
from mustlink.metric_learning._scatter import Units, WithinComponents, shrink
from mustlink.metric_learning._shrinkage import choose_shrinkage


class RCA(BaseLinkedMetric):
    """Relevant component analysis (Bar-Hillel, Hertz, Shental and Weinshall 2003).

    Whitens the rows within must-link components: directions in which must-linked rows vary are irrelevant and are
    shortened. Cannot-links are not used.

    Parameters
    ----------
    shrinkage : float or "auto", default="auto"
        The weight, from 0 to 1, of a multiple of the identity that is mixed into the scatter of the must-linked rows,
        with all features scaled to unit variance. "auto" is d / (d + m) with d features and m independent
        must-links, or less if the links themselves say so: with m at least d, each must-linked row is held out, and a
        smaller value is used if its metric is clearly better at aligning the row with the rest of its component.
        0 is the method as published, which needs more must-links than features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map of ``transform``, one component for each feature that is not constant.
    metric_matrix_ : ndarray of shape (n_features, n_features)
        The matrix A of the metric.
    shrinkage_ : float
        The shrinkage used; 1 without must-links.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the features, if X has any.

    See Also
    --------
    DCA : Uses cannot-links as well.
    ITML : Uses cannot-links and weights.

    Notes
    -----
    With m_j the mean of component j and n the number of rows in components of two rows and more, the scatter is
    C = 1/n sum over j and the rows x of j of (x - m_j)(x - m_j)', and A is its inverse. The map is the symmetric root
    of A for features scaled to unit variance. The paper first reduces the features to the rank of C; here only constant
    features are dropped, and `shrinkage` makes C regular when links are few. Weights of links are not used.

    With "auto", the alignment of a held-out row x with the mean c of the other rows of its component is x'Ac, both
    centered, over the Frobenius norm of the covariance of all rows in the metric A: the part of the spread that k-means
    sees that is due to the classes. A smaller shrinkage replaces d / (d + m) if its mean alignment is higher by more
    than two standard errors of the paired difference. Directions of small variance can hold the classes, and then
    little shrinkage is right, or nothing; only the links tell.

    Without links, and with a warning without must-links between different rows, the metric is the Euclidean one.

    References
    ----------
    A. Bar-Hillel, T. Hertz, N. Shental and D. Weinshall, "Learning distance functions using equivalence relations",
    ICML 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints
    >>> from mustlink.metric_learning import RCA
    >>> X = np.array([[0.0, 0.0], [0.0, 4.0], [1.0, 0.0], [2.0, 0.0]])
    >>> RCA(shrinkage=0).fit(X, constraints=Constraints(must_link=[(0, 1), (2, 3)])).metric_matrix_.round(2)
    array([[8. , 0. ],
           [0. , 0.5]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")]
    }

    def __init__(self, shrinkage: float | str = "auto") -> None:
        self.shrinkage = shrinkage

    def _learn(self, X: Any, links: Constraints) -> Floats:
        n_features = X.shape[1]
        self.shrinkage_ = 1.0
        if links.is_empty:
            return np.eye(n_features)
        units = Units.of(X)
        within = WithinComponents.of(X, links.components(X.shape[0]), units)
        if not within.residual.any():
            return warn_of_identity("RCA", "must-links between different rows", links, n_features)
        is_auto = isinstance(self.shrinkage, str)
        self.shrinkage_ = choose_shrinkage(X, within, units) if is_auto else float(self.shrinkage)
        scatter = within.residual.T @ within.residual / len(within.residual)
        values, vectors = np.linalg.eigh(shrink(scatter, self.shrinkage_, within.n_independent, X.dtype))
        return units.of_all_features((vectors / np.sqrt(values)) @ vectors.T)
