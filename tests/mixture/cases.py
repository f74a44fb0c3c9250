"""How the mixtures are checked."""

from __future__ import annotations

from typing import Any

from sklearn.mixture import GaussianMixture

from conformance import Case


def gaussian_mixture(estimator: Any) -> GaussianMixture:
    """The mixture that ours are without links."""
    shared = ("n_components", "covariance_type", "reg_covar", "max_iter", "n_init", "random_state")
    # With a tolerance of zero it would warn.
    return GaussianMixture(tol=1e-6, **{name: getattr(estimator, name) for name in shared})


CASES = {
    "ConstrainedGaussianMixture": Case(
        gaussian_mixture,
        [
            {"sampling": "component", "covariance_type": "diag"},
            {"normalizer": "pseudo", "covariance_type": "tied"},
            {"normalizer": "ignore", "covariance_type": "spherical"},
        ],
    ),
    "PenalizedGaussianMixture": Case(
        gaussian_mixture,
        [
            {"penalty": 10.0, "normalizer": "pseudo", "covariance_type": "diag"},
            {"penalty": 0.5, "normalizer": "ignore", "covariance_type": "tied", "decode": "marginals"},
            {"normalizer": "uniform", "inference": "bp", "covariance_type": "spherical"},
        ],
    ),
    "MeanFieldMixture": Case(
        gaussian_mixture,
        [
            {"eta": 5.0, "labels": "links", "inference": "mean_field", "penalty": 2.0},
            {"eta": 1.0, "class_prior": "estimate", "covariance_type": "diag", "annealing_start": 0.5},
            {"eta": 2.0, "class_prior": "unlinked", "covariance_type": "spherical", "init_params": "k-means++"},
        ],
        fast={"n_init": 2, "tol": 1e-3},
    ),
    "FeedbackMixture": Case(
        None,
        [{"penalty": 50.0, "mean": "length"}, {"update": "multiplicative", "mstep": "counts", "warm_start": False}],
        fast={"n_init": 3, "max_rounds": 2},
        fails={
            "check_clustering": "it standardizes its table, whatever the tags say",
            "check_clustering(readonly_memmap=True)": "it standardizes its table, whatever the tags say",
            "check_estimator_sparse_array": "it reads classifier tags of all that have predict_proba",
            "check_estimator_sparse_matrix": "it reads classifier tags of all that have predict_proba",
        },
    ),
}
