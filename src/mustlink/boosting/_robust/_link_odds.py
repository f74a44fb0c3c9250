"""Log-odds that links are correct, as belief propagation counts with them."""

from __future__ import annotations

import numpy as np

from mustlink._types import Floats
from mustlink.constraints import LinkGraph

__all__ = ["MIN_PRIOR_ERROR", "link_log_odds", "prior_log_odds"]

# Bounds of the error rate in the prior log-odds: no link is certain, and with nearly half of them wrong, which may be
# estimated where the clusters have little to do with the links, all of them would be ignored.
MIN_PRIOR_ERROR, MAX_PRIOR_ERROR = 0.02, 0.3
# The log-odds of a link with a large weight are cut off here.
MAX_LOG_ODDS = 30.0


def prior_log_odds(error_rate: float) -> float:
    """Return the log-odds that a link is correct, given the fraction of wrong links."""
    error = min(max(error_rate, MIN_PRIOR_ERROR), MAX_PRIOR_ERROR)
    return float(np.log((1 - error) / error))


def link_log_odds(graph: LinkGraph, log_odds: float) -> Floats:
    """Return the log-odds of each link, given those of a link of weight one."""
    return np.minimum(log_odds * graph.weight, MAX_LOG_ODDS)
