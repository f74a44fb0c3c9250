"""How many links are wrong, and how likely each is correct, from the votes of trials that did not see it."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from mustlink._types import Floats
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.constraints import Constraints

__all__ = ["MIN_TRUST", "estimate_trust"]

LOGISTIC_RIDGE = 0.1
# A vote is nearly unanimous within this distance of zero or one.
NEARLY_UNANIMOUS = 0.05
# Standard errors that are subtracted from the estimated fraction of wrong links.
MARGIN = 1.0
MIN_TRUST = 1e-3


def estimate_trust(
    links: LinkSet, constraints: Constraints, vote: Floats, component_vote: Floats, n_samples: int, max_error: float
) -> tuple[float, Floats]:
    """Estimate the fraction of wrong links, and the probability that each link is correct, from the held-out votes.

    All links are trusted if the votes are unrelated to them, or if there is only one kind of link.
    """
    if not links.has_both_kinds:
        return 0.0, np.ones(len(links))
    intercept, slope = fit_logistic(vote - 0.5, links)
    if slope <= 0:
        return 0.0, np.ones(len(links))
    error = min(estimate_error(links, component_vote), conflict_bound(constraints, n_samples), max_error)
    must = expit(intercept + slope * (vote - 0.5))
    correct = np.clip((must - error) / (1 - 2 * error), 0, 1)
    trust = (1 - error) * np.where(links.is_must, correct / must, (1 - correct) / (1 - must))
    return error, np.maximum(trust, MIN_TRUST)


def estimate_error(links: LinkSet, component_vote: Floats) -> float:
    """Return the fraction of wrong links among those on which the votes of components are nearly unanimous.

    A link on which the votes are divided may be correct and hard; one that nearly all votes contradict hardly ever is.
    For the few that are, a standard error is subtracted.
    """
    apart, together = component_vote < NEARLY_UNANIMOUS, component_vote > 1 - NEARLY_UNANIMOUS
    n_sure = links.weight[apart | together].sum() + 1
    error = (links.weight[apart & links.is_must].sum() + links.weight[together & ~links.is_must].sum()) / n_sure
    return max(0.0, float(error - MARGIN * np.sqrt(error * (1 - error) / n_sure)))


def fit_logistic(x: Floats, links: LinkSet) -> tuple[float, float]:
    """Fit P(must-link | x) = sigma(b0 + b1 x), with a ridge on b1; return b0 and b1."""
    model = LogisticRegression(C=1 / LOGISTIC_RIDGE, solver="newton-cg", tol=1e-8)
    model.fit(x[:, None], links.is_must, sample_weight=links.weight)
    return float(model.intercept_[0]), float(model.coef_[0, 0])


def conflict_bound(constraints: Constraints, n_samples: int) -> float:
    """Bound the error rate by the number of cannot-links inside must-link components.

    Random pairs of rows would fall inside components in a known number. Far fewer cannot-links inside them mean that
    the links agree with each other. The bound matters where links are dense.
    """
    # Rows in no link are components of one row, which no link is inside of.
    linked, local = constraints.compact()
    component = local.components(len(linked))
    sizes = np.bincount(component).astype(float)
    cannot = local.cannot_link
    expected = len(cannot) * (sizes * (sizes - 1)).sum() / (n_samples * (n_samples - 1))
    inside = float((component[cannot[:, 0]] == component[cannot[:, 1]]).sum())
    # The upper limit of a 95% interval of a Poisson count; 3 is that of a count of zero.
    most = inside + 1.65 * np.sqrt(inside) + 3
    return most / expected if expected > 0 else np.inf
