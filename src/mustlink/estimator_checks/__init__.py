"""Checks that every constrained clusterer must pass, beside those of scikit-learn."""

from mustlink.estimator_checks._suite import check_constrained_clusterer, parametrize_with_checks, yield_checks

__all__ = ["check_constrained_clusterer", "parametrize_with_checks", "yield_checks"]
