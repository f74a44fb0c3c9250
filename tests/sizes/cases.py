"""How the clusterers with sizes are checked."""

from __future__ import annotations

from conformance import Case, k_means

CASES: dict[str, Case] = {
    "FrequencySensitiveKMeans": Case(
        None, [{"update": "none"}, {"update": "batch"}, {"metric": "cosine"}, {"metric": "cosine", "update": "stream"}]
    ),
    "SizeConstrainedKMeans": Case(k_means, [{"size_min": 1, "init": "random"}, {"init": "components", "n_init": 2}]),
    "ExistentialKMeans": Case(
        None, [{"method": "pivot", "pivot_min": 8}, {"method": "pivot", "heuristic": "lookahead"}, {"pivot_min": 10}]
    ),
}
