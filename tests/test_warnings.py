"""Warnings name the line of the user, not one inside the package."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mustlink import RCA, ConstrainedHDBSCAN, ConstrainedLinkage, Constraints, SeededSingleLink

X = np.arange(12.0).reshape(6, 2)
CONTRADICTORY = Constraints([(0, 1), (1, 2)], [(0, 2)])

FITS = {
    "linkage": lambda: ConstrainedLinkage(2, on_infeasible="relax").fit(X, constraints=CONTRADICTORY),
    "fit_predict": lambda: ConstrainedLinkage(2, on_infeasible="relax").fit_predict(X, constraints=CONTRADICTORY),
    "density": lambda: ConstrainedHDBSCAN(2, on_infeasible="relax").fit(X, constraints=CONTRADICTORY),
    "update": lambda: SeededSingleLink().fit(X).update(constraints=CONTRADICTORY),
    "metric": lambda: RCA().fit(X, constraints=Constraints(cannot_link=[(0, 1)])),
    "pipeline": lambda: make_pipeline(StandardScaler(), RCA()).fit(X, rca__constraints=Constraints([], [(0, 1)])),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_warnings_point_at_the_caller(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    assert [entry.filename for entry in caught] == [__file__]
