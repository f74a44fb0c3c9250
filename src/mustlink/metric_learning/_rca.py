"""RCA: the metric in which the rows of must-link components scatter alike in all directions."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from mustlink._sklearn_compat import Interval, StrOptions
from mustlink.constraints import Constraints
from mustlink.metric_learning._base import BaseLinkedMetric, Floats, warn_of_identity
from mustlink.metric_learning._scatter import Chunklets, Units, regular


class RCA(BaseLinkedMetric):
    """Relevant component analysis (Bar-Hillel, Hertz, Shental and Weinshall 2003).

    Rows that belong together differ in ways that do not matter. Directions in which must-linked rows scatter much are
    made short, so that within the components of must-links all directions scatter alike. Cannot-links play no part.

    Parameters
    ----------
    shrinkage : float or "auto", default="auto"
        The share, from 0 to 1, of a round scatter that is mixed into the scatter of the must-linked rows. "auto" is
        d / (d + m) with d features and m independent must-links, so that it is felt where links are few. 0 is the
        method as published, which needs more must-links than features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map of ``transform``, one component for each feature that is not constant.
    metric_matrix_ : ndarray of shape (n_features, n_features)
        The matrix A of the metric.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the table had any.

    See Also
    --------
    DCA : Heeds cannot-links as well.
    ITML : Heeds cannot-links, and weights.

    Notes
    -----
    With m_j the mean of component j and n the number of rows in components of two rows and more, the scatter is
    C = 1/n sum over j and the rows x of j of (x - m_j)(x - m_j)', and A is its inverse. The map is the symmetric root
    of A in units in which each column of the table has the variance one, so that results do not depend on the units.
    The paper reduces the table to the rank of C first; here nothing is thrown away but constant columns. C from few
    links is far from the scatter of the classes, and its inverse farther, so that `shrinkage` is needed; the default
    was looked at on iris, wine and breast cancer with 30 to 1,000 links, where it was never far from the best share.
    Weights of links play no part.

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
        if links.is_empty:
            return np.eye(n_features)
        units = Units.of(X)
        chunklets = Chunklets.of(X, links, units)
        if not chunklets.residual.any():
            return warn_of_identity("RCA", "must-links between different rows", links, n_features)
        scatter = chunklets.residual.T @ chunklets.residual / len(chunklets.residual)
        values, vectors = np.linalg.eigh(regular(scatter, self.shrinkage, chunklets.n_known, X.dtype))
        return units.of_all_features((vectors / np.sqrt(values)) @ vectors.T)
