"""The answer of inference: probabilities of rows and links, and the log-normalizer."""

from __future__ import annotations

from dataclasses import dataclass

from mustlink._types import Floats

__all__ = ["Marginals"]


@dataclass(frozen=True, eq=False)
class Marginals:
    """Probabilities of the clusters of linked rows, and of the links.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_clusters)
        The probability that each row is in each cluster.
    links : ndarray of shape (n_links,)
        The probability that each link is satisfied.
    log_normalizer : float or None
        The logarithm of the sum of the weights of all labelings (:class:`LinkModel` defines them): exact, or a lower
        bound by mean field; where spanning trees leave out links, that of the model without these. Gibbs sampling and
        belief propagation compute none (None). :class:`LinkInference` estimates it for the parts that they solve, by
        the mean log-weight plus the entropy of the nodes as if they were independent, which is too large.
    messages : ndarray of shape (2 * n_links, n_clusters) or None
        The messages of belief propagation, from which that of a similar model can start.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink.inference import Marginals
    >>> Marginals(np.array([[0.9, 0.1]]), np.empty(0)).rows.argmax(axis=1)
    array([0])
    """

    rows: Floats
    links: Floats
    log_normalizer: float | None = None
    messages: Floats | None = None
