"""Compiled votes of linked rows on others."""

from __future__ import annotations

from typing import Any

from mustlink._jit import jit


@jit
def vote_by_similarity(
    codes: Any, examples: Any, weights: Any, marginals: Any, power: int, max_apart: float, votes: Any
) -> None:
    """Add up the marginals of the examples, each times its co-association with a row to some power, into `votes`.

    The weights sum to one. They should decrease from run to run: then most examples are soon found to be too far.
    """
    n_runs = codes.shape[1]
    for i in range(len(codes)):
        for a in range(len(examples)):
            apart = 0.0
            for t in range(n_runs):
                if codes[i, t] != examples[a, t] or codes[i, t] < 0:
                    apart += weights[t]
                    if apart > max_apart:
                        break
            if apart <= max_apart:
                votes[i] += (1.0 - apart) ** power * marginals[a]
