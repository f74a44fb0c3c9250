"""How many links are wrong, and how likely each is correct, from the votes of trials that did not see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.integrate import trapezoid
from scipy.optimize import minimize
from scipy.special import expit, logit

from mustlink._sklearn_compat import one_blas_thread
from mustlink._types import Floats, Ints
from mustlink.boosting._boostcluster._links import LinkSet
from mustlink.boosting._boostcluster._subsample import draw_places
from mustlink.constraints import Constraints

__all__ = ["MIN_TRUST", "ErrorEstimate", "NoisyCurve", "estimate_trust"]

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
# Number of error rates that are averaged over, closer to each other near zero, and maximum number of links for which
# this is done. With more links the mean and the most probable rate differ by one or two hundredths at most.
N_ERRORS, MAX_LINKS_AVERAGED = 16, 1_000
# A smaller error rate is none, but it keeps the likelihood of a link that contradicts all votes above zero.
MIN_ERROR = 1e-6
MIN_TRUST = 1e-3


class ErrorEstimate(NamedTuple):
    """What the votes say of wrong links."""

    rate: float  # the most probable fraction of wrong links
    expected: float  # the mean over all fractions by their probabilities
    trust: Floats  # the probability that each link is correct, given the expected fraction


def estimate_trust(
    links: LinkSet, constraints: Constraints, vote: Floats, chance: float, n_samples: int, max_error: float
) -> ErrorEstimate:
    """Estimate the fraction of wrong links, and the probability that each link is correct, from the held-out votes.

    `vote` is the probability that the rows of each link are together, and `chance` that of rows without evidence.
    There must be links of both kinds. Votes that are unrelated to the links count against them.

    With a hundred links or fewer the most probable fraction is often zero although a fifth is wrong, and all of them
    would be satisfied. What follows from the links is therefore computed with the expected fraction.
    """
    bound = min(conflict_bound(constraints, n_samples), max_error)
    if bound <= MIN_ERROR:
        return ErrorEstimate(0.0, 0.0, np.ones(len(links)))
    curve = NoisyCurve.of(links, logit(np.clip(vote, MIN_VOTE, 1 - MIN_VOTE)), chance)
    # Threads for vectors of three numbers would only wait for each other.
    with one_blas_thread():
        best = curve.fit(bound)
        used = best if len(links) > MAX_LINKS_AVERAGED else curve.expected_parameters(best, bound)
    agreed, error = curve.agreement(*used[:2]), float(used[2])
    right, wrong = (1 - error) * agreed, error * (1 - agreed)
    rate, expected = (float(found[2]) if found[2] > MIN_ERROR else 0.0 for found in (best, used))
    return ErrorEstimate(rate, expected, np.maximum(right / (right + wrong), MIN_TRUST))


@dataclass(frozen=True)
class NoisyCurve:
    """A logistic regression of links on votes, with label noise.

    The rows of a link are together with probability t = sigma(shift + slope * log-odds of the vote), and the link is a
    must-link with probability (1 - error) t + error (1 - t). A hard link has votes in between, where the curve is
    steep; a wrong one may contradict even votes that are nearly certain, where the curve is flat. That tells them
    apart. A priori the slope is one, the shift that between the fraction of must-links and chance, and any error is as
    probable as any other. Parameters are the shift beyond that, the logarithm of the slope, and the error.
    """

    sign: Floats  # of every link
    log_odds: Floats  # of its vote
    weight: Floats
    expected_shift: float
    fitted: Ints  # the links that parameters are fitted to

    @classmethod
    def of(cls, links: LinkSet, log_odds: Floats, chance: float) -> Self:
        """Prepare fits to links with these log-odds of votes."""
        must = float(np.clip(np.average(links.is_must, weights=links.weight), MIN_VOTE, 1 - MIN_VOTE))
        sign = np.where(links.is_must, 1.0, -1.0)
        fitted = draw_places(len(links), MAX_LINKS_FITTED)
        return cls(sign, log_odds, links.weight, float(logit(must) - logit(chance)), fitted)

    def agreement(self, shift: float, log_slope: float, some: Any = slice(None)) -> Floats:
        """Return how far the curve agrees with each link: with a must-link by t, and with a cannot-link by 1 - t."""
        log_odds = self.expected_shift + shift + np.exp(log_slope) * self.log_odds[some]
        return np.asarray(expit(self.sign[some] * log_odds))

    def loss(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the negative logarithm of the posterior per link, and its gradient."""
        shift, log_slope, error = parameters
        fitted, weight = self.fitted, self.weight[self.fitted]
        agreed = self.agreement(shift, log_slope, fitted)
        probability = error + (1 - 2 * error) * agreed
        share = weight / probability
        by_shift = -share * (1 - 2 * error) * agreed * (1 - agreed) * self.sign[fitted]
        prior = (shift / SHIFT_DEVIATION) ** 2 + (log_slope / SLOPE_DEVIATION) ** 2
        gradient = (
            by_shift.sum() + shift / SHIFT_DEVIATION**2,
            by_shift @ (np.exp(log_slope) * self.log_odds[fitted]) + log_slope / SLOPE_DEVIATION**2,
            -share @ (1 - 2 * agreed),
        )
        # Per link: the first step of the search is as long as the gradient.
        return float(prior / 2 - weight @ np.log(probability)) / weight.sum(), np.array(gradient) / weight.sum()

    def fit(self, max_error: float) -> Floats:
        """Return the most probable parameters."""
        found = [self._search((0, 0, start * max_error), MIN_ERROR, max_error) for start in STARTS]
        return np.asarray(min(found, key=lambda result: float(result.fun)).x)

    def expected_parameters(self, best: Floats, max_error: float) -> Floats:
        """Return the expected error, and the most probable shift and slope for it, given the best parameters.

        The probability of an error is that with the best shift and slope for it.
        """
        errors = np.maximum(max_error * np.linspace(0, 1, N_ERRORS) ** 2, MIN_ERROR)
        loss, start = np.empty(N_ERRORS), best
        # From the best error outward each search starts near its end.
        for place in np.argsort(np.abs(errors - best[2]), kind="stable"):
            found = self._search(start, errors[place], errors[place])
            loss[place], start = found.fun, found.x
        density = np.exp((loss.min() - loss) * self.weight.sum())
        expected = float(trapezoid(density * errors, errors) / trapezoid(density, errors))
        return np.asarray(self._search(best, expected, expected).x)

    def _search(self, start: Any, least: float, most: float) -> Any:
        """Search for the best parameters, with an error between bounds."""
        # Six standard deviations; wider ones would only let a step of the search overflow.
        bounds = [
            (-6 * SHIFT_DEVIATION, 6 * SHIFT_DEVIATION),
            (-6 * SLOPE_DEVIATION, 6 * SLOPE_DEVIATION),
            (least, most),
        ]
        options = {"ftol": 1e-12, "gtol": 1e-9}
        start = (start[0], start[1], min(max(start[2], least), most))
        return minimize(self.loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)


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
