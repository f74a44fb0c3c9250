"""When to stop asking: whether the last answers could be predicted from those before."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mustlink._estimators import clone_with, takes_links
from mustlink.constraints import Constraints
from mustlink.kmeans import PCKMeans

if TYPE_CHECKING:
    from mustlink.active._strategy import Answer

__all__ = ["Advice", "check_clusterer", "check_predicted", "count_last", "fit_quietly", "seeded_copy"]

NOISE_LABEL = -1


class Advice(NamedTuple):
    """Whether further questions are worth asking, by how well the last answers were predicted.

    Parameters
    ----------
    is_settled : bool
        Whether the last answers were all as predicted, and enough of them were "together", or no question is left.
    n_checked : int
        The number of the last answers that were compared with predictions; 0 while there are too few.
    n_predicted : int
        How many of these were as predicted.
    end : str or None, default=None
        Why no question is left, as a sentence, if none is; then nothing was compared.

    Examples
    --------
    >>> from mustlink.active import Advice
    >>> print(Advice(is_settled=True, n_checked=31, n_predicted=31))
    The last 31 answers were as predicted; more questions will change little.
    >>> print(Advice(is_settled=False, n_checked=31, n_predicted=28))
    28 of the last 31 answers were as predicted; more questions are worthwhile.
    """

    is_settled: bool
    n_checked: int
    n_predicted: int
    end: str | None = None

    def __str__(self) -> str:
        if self.end is not None:
            return self.end
        if not self.n_checked:
            return "There are too few answers to tell whether more questions are worthwhile."
        end = "more questions will change little" if self.is_settled else "more questions are worthwhile"
        if self.n_checked == 1:
            return f"The last answer was {'' if self.n_predicted else 'not '}as predicted; {end}."
        share = "The last" if self.is_settled else f"{self.n_predicted:,} of the last"
        verb = "was" if self.n_predicted == 1 else "were"
        return f"{share} {self.n_checked:,} answers {verb} as predicted; {end}."


def count_last(answers: Sequence[Answer], n_together: int) -> int:
    """Return the number of the last answers with `n_together` "together" among them; 0 if there are fewer."""
    together = [place for place, answer in enumerate(answers) if answer.together]
    return len(answers) - together[-n_together] if len(together) >= n_together else 0


def check_predicted(labels: Any, answers: Sequence[Answer]) -> Advice:
    """Compare answers with a clustering that was made without them."""
    known = [answer for answer in answers if answer.together is not None]
    # Two rows of noise are apart, as everywhere.
    n_predicted = sum(bool(labels[a] == labels[b] != NOISE_LABEL) == together for a, b, together in known)
    return Advice(n_predicted == len(known), len(known), n_predicted)


def check_clusterer(clusterer: Any) -> None:
    """Refuse what is neither None nor a clusterer with links."""
    is_estimator = hasattr(clusterer, "get_params") and hasattr(clusterer, "fit") and not isinstance(clusterer, type)
    if clusterer is not None and not (is_estimator and takes_links(clusterer)):
        raise TypeError(
            "clusterer must be an estimator whose fit takes constraints, such as PCKMeans(), or None; got "
            f"{clusterer!r}."
        )


def seeded_copy(clusterer: Any, n_clusters: int, seed: int) -> Any:
    """Return a copy of a clusterer, PCKMeans if it is None, with the number of clusters and all seeds set."""
    model = clone_with(PCKMeans() if clusterer is None else clusterer, n_clusters, seed)
    if getattr(model, "n_clusters", n_clusters) is None:
        # The boosting methods take the number of clusters of their base, which may be another one.
        model.set_params(n_clusters=n_clusters)
    return model


def fit_quietly(model: Any, X: Any, links: Constraints) -> Any:
    """Fit a clusterer without warnings: those of intermediate clusterings are irrelevant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, constraints=links)
