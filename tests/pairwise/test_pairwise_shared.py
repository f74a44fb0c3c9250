"""Both classifiers: scikit-learn's checks."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from mustlink.pairwise import PairwiseLogisticRegression, PairwiseSVC

CLASSIFIERS = [
    PairwiseLogisticRegression(),
    PairwiseLogisticRegression(loss="nonconvex", solver="em"),
    PairwiseLogisticRegression(kernel="linear", solver="newton-cg"),
    PairwiseLogisticRegression(kernel="precomputed"),
    PairwiseSVC(),
    PairwiseSVC(kernel="linear"),
]


@parametrize_with_checks(CLASSIFIERS)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
