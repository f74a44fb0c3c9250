"""How many links are wrong, and how likely each is correct, from the votes of trials that did not see it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from mustlink._sklearn_compat import one_blas_thread
from mustlink._types import Floats
from mustlink.boosting._boostcluster._consensus import drawn_rows
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.constraints import Constraints

__all__ = ["MIN_TRUST", "estimate_trust"]

# Votes are cut off at this distance from zero and one.
MIN_VOTE = 1e-3
# Prior standard deviations of how far the log-odds of being together are from those of the votes: of their shift, and
# of the logarithm of their slope. Votes may be more, or less, certain than they should be; but if any slope were as
# likely as any other, votes that say little would explain all contradictions, and no link would seem wrong.
SHIFT_DEVIATION, SLOPE_DEVIATION = 1.0, 0.5
# The likelihood may have several maxima; these fractions of the largest possible error rate are the starts.
STARTS = (0.05, 0.3, 0.7)
# The curve is fitted to so many links at most. The standard error of the error rate is then about half a percent; where
# the votes say little it is some percent.
MAX_LINKS_FITTED = 20_000
# A smaller error rate is none, but it keeps the likelihood of a link that contradicts all votes above zero.
MIN_ERROR = 1e-6
MIN_TRUST = 1e-3


def estimate_trust(
    links: LinkSet, constraints: Constraints, vote: Floats, chance: float, n_samples: int, max_error: float
) -> tuple[float, Floats]:
    """Estimate the fraction of wrong links, and the probability that each link is correct, from the held-out votes.

    `vote` is the probability that the rows of each link are together, and `chance` that of rows without evidence.
    There must be links of both kinds. Votes that are unrelated to the links count against them.
    """
    bound = min(conflict_bound(constraints, n_samples), max_error)
    if bound <= MIN_ERROR:
        return 0.0, np.ones(len(links))
    error, agreed = fit_errors(links, logit(np.clip(vote, MIN_VOTE, 1 - MIN_VOTE)), chance, bound)
    right, wrong = (1 - error) * agreed, error * (1 - agreed)
    return error if error > MIN_ERROR else 0.0, np.maximum(right / (right + wrong), MIN_TRUST)


def fit_errors(links: LinkSet, log_odds: Floats, chance: float, max_error: float) -> tuple[float, Floats]:
    """Fit a logistic regression with label noise; return the error rate, and how far the curve agrees with each link.

    The rows of a link are together with probability t = sigma(shift + slope * log-odds of the vote), and the link is a
    must-link with probability (1 - error) t + error (1 - t). A hard link has votes in between, where the curve is
    steep; a wrong one may contradict even votes that are nearly certain, where the curve is flat. That tells them
    apart. A priori the slope is one, and the shift that between the fraction of must-links and chance. The curve agrees
    with a must-link by t, and with a cannot-link by 1 - t.
    """
    sign = np.where(links.is_must, 1.0, -1.0)
    must = float(np.clip(np.average(links.is_must, weights=links.weight), MIN_VOTE, 1 - MIN_VOTE))
    expected_shift = logit(must) - logit(chance)
    fitted = drawn_rows(len(links), MAX_LINKS_FITTED)
    weight = links.weight[fitted]
    total = weight.sum()

    def agreement(shift: float, log_slope: float, some: Any) -> Floats:
        return np.asarray(expit(sign[some] * (expected_shift + shift + np.exp(log_slope) * log_odds[some])))

    def loss(parameters: Floats) -> tuple[float, Floats]:
        """Return the negative logarithm of the posterior per link, and its gradient."""
        shift, log_slope, error = parameters
        agreed = agreement(shift, log_slope, fitted)
        probability = error + (1 - 2 * error) * agreed
        share = weight / probability
        by_shift = -share * (1 - 2 * error) * agreed * (1 - agreed) * sign[fitted]
        prior = (shift / SHIFT_DEVIATION) ** 2 + (log_slope / SLOPE_DEVIATION) ** 2
        gradient = (
            by_shift.sum() + shift / SHIFT_DEVIATION**2,
            by_shift @ (np.exp(log_slope) * log_odds[fitted]) + log_slope / SLOPE_DEVIATION**2,
            -share @ (1 - 2 * agreed),
        )
        # Per link: the first step of the search is as long as the gradient.
        return float(prior / 2 - weight @ np.log(probability)) / total, np.array(gradient) / total

    # Six standard deviations; wider ones would only let a step of the search overflow.
    bounds = [
        (-6 * SHIFT_DEVIATION, 6 * SHIFT_DEVIATION),
        (-6 * SLOPE_DEVIATION, 6 * SLOPE_DEVIATION),
        (MIN_ERROR, max_error),
    ]
    options = {"ftol": 1e-12, "gtol": 1e-9}
    # Threads for vectors of three numbers would only wait for each other.
    with one_blas_thread():
        found = [
            minimize(loss, (0, 0, start * max_error), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
            for start in STARTS
        ]
    shift, log_slope, error = min(found, key=lambda result: float(result.fun)).x
    return float(error), agreement(shift, log_slope, slice(None))


def conflict_bound(constraints: Constraints, n_samples: int) -> float:
    """Bound the error rate by the number of cannot-links inside must-link components.

    Random pairs of rows would fall inside components in a known number. Far fewer cannot-links inside them mean that
    the links agree with each other. The bound matters where links are dense. There is none if no must-link closes a
    cycle: then nobody asked about pairs inside components, as no strategy of questions does, however many are wrong.
    """
    # Rows in no link are components of one row, which no link is inside of.
    linked, local = constraints.compact()
    component = local.components(len(linked))
    sizes = np.bincount(component).astype(float)
    if len(constraints.must_link) <= (sizes - 1).sum():
        return np.inf
    cannot = local.cannot_link
    expected = len(cannot) * (sizes * (sizes - 1)).sum() / (n_samples * (n_samples - 1))
    inside = float((component[cannot[:, 0]] == component[cannot[:, 1]]).sum())
    # The upper limit of a 95% interval of a Poisson count; 3 is that of a count of zero.
    most = inside + 1.65 * np.sqrt(inside) + 3
    return most / expected if expected > 0 else np.inf
