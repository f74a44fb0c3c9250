"""How the clusterers that avoid a known split are checked."""

from __future__ import annotations

from conformance import Case

CASES: dict[str, Case] = {
    "ResidualClustering": Case(None, [{"estimator": "mixture"}], fast={"n_init": 1}),
    "CondEns": Case(None, [{"estimator": "mixture", "soft": True}, {"select": "consensus"}], fast={"n_init": 1}),
    "CCIB": Case(
        None,
        [{"method": "sequential"}, {"model": "gaussian", "lam": 0.0}, {"model": "glm"}, {"max_information": 0.5}],
        fast={"n_init": 1, "growth": 1.5},
        fails={
            "check_estimator_sparse_array": "it reads classifier tags of all that have predict_proba",
            "check_estimator_sparse_matrix": "it reads classifier tags of all that have predict_proba",
        },
    ),
}
