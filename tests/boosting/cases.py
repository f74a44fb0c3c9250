"""How the boosting clusterers are checked."""

from __future__ import annotations

from conformance import Case, k_means

CASES = {
    "BoostCluster": Case(None, [{"representation": "published"}], {"n_rounds": 4}),
    "RobustBoostCluster": Case(None, [], {"n_rounds": 4, "n_trials": 2}),
    "BoostBaseClustering": Case(None, [{"estimator": "average"}], {"n_rounds": 3}),
    "BoostedConstrainedKMeans": Case(k_means, [{"priorities": "random", "init_per_round": False}], {"n_rounds": 10}),
    "DistBoost": Case(
        None,
        [{"consensus": "average", "hypothesis": "posterior", "cannot_links": "ignore", "unlabeled_fraction": None}],
        {"n_rounds": 3},
    ),
}
