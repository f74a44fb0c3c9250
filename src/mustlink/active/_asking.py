"""Asking the questions of a strategy."""

from __future__ import annotations

from mustlink._progress import progress
from mustlink.active._oracles import Oracle
from mustlink.active._strategy import Strategy
from mustlink.constraints import Constraints

__all__ = ["ask"]


def ask(strategy: Strategy, oracle: Oracle, n_questions: int | None = None, *, verbose: int | bool = 0) -> Constraints:
    """Ask an oracle the questions of a strategy, and return the resulting links.

    Parameters
    ----------
    strategy : Strategy
        Chooses the questions and stores the answers; another call continues, also after an interruption.
    oracle : callable
        Takes two rows; returns True, False, or None to skip the question.
    n_questions : int, default=None
        The maximum number of questions; None asks until there are none left.
    verbose : int or bool, default=0
        Whether to show a progress bar.

    Returns
    -------
    Constraints
        :attr:`Strategy.constraints`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mustlink import PCKMeans
    >>> from mustlink.active import Consolidate, TruthOracle, ask
    >>> from mustlink.metrics import adjusted_rand
    >>> X, y = load_iris(return_X_y=True)
    >>> links = ask(Consolidate(X, 3, random_state=0), TruthOracle(y), 60)
    >>> plain, linked = PCKMeans(3, random_state=0), PCKMeans(3, random_state=0)
    >>> adjusted_rand(y, linked.fit(X, constraints=links).labels_) > adjusted_rand(y, plain.fit(X).labels_)
    True
    """
    if n_questions is not None and n_questions < 0:
        raise ValueError(f"n_questions must not be negative; got {n_questions}.")
    if not callable(oracle):
        raise TypeError(f"An oracle must be a callable of two rows; got {type(oracle).__name__}.")
    n_asked = 0
    with progress(n_questions, "Asking", shown=verbose) as advance:
        while n_questions is None or n_asked < n_questions:
            question = strategy.question
            if question is None:
                break
            strategy.answer(oracle(*question))
            n_asked += 1
            advance()
    return strategy.constraints
