"""RCA and DCA against the definitions of their papers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eig
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import normalized_mutual_info_score

from mustlink import Constraints
from mustlink.metric_learning import DCA, RCA, _shrinkage
from mustlink.metric_learning._scatter import Units, WithinComponents
from mustlink.metric_learning._shrinkage import held_out_alignment
from reference.metric_learning import alignment_by_leaving_out, dca_scatters, within_covariance


@given(seed=st.integers(0, 1000), n_features=st.integers(1, 5))
@settings(deadline=None, max_examples=25)
def test_rca_whitens_the_rows_within_components(seed: int, n_features: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, n_features)) @ rng.normal(size=(n_features, n_features))
    links = Constraints.from_labels(np.where(rng.random(30) < 0.8, rng.integers(4, size=30), -1))
    Z = RCA(shrinkage=0.0).fit_transform(X, constraints=links)
    np.testing.assert_allclose(within_covariance(Z, links.components(30)), np.eye(n_features), atol=1e-6)


def test_rca_with_features_of_very_different_scales() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    links = Constraints.sample(y, n_pairs=400, random_state=0)
    Z = RCA(shrinkage=0.0).fit_transform(X, constraints=links)
    np.testing.assert_allclose(within_covariance(Z, links.components(len(X))), np.eye(30), atol=1e-6)


def test_rca_with_few_links_shortens_their_direction() -> None:
    X = load_iris().data
    links = Constraints(must_link=[(0, 100)])
    v = X[0] - X[100]
    metric = RCA().fit(X, constraints=links)
    assert np.isfinite(metric.metric_matrix_).all()
    # Among directions of equal length in standardized units, that of the link is now the shortest.
    scale = X.std(axis=0)
    other = np.linalg.svd((v / scale)[None])[2][1:]
    along = np.linalg.norm(metric.components_ @ v) / np.linalg.norm(v / scale)
    across = np.linalg.norm(metric.components_ @ (other * scale).T, axis=0)
    assert (along < 0.8 * across).all()
    with pytest.raises(ValueError, match="scatter of the must-linked rows is singular"):
        RCA(shrinkage=0.0).fit(X, constraints=links)


@pytest.mark.parametrize("n_rows", [2, 3, 4])
def test_automatic_shrinkage_decreases_with_the_number_of_links(n_rows: int) -> None:
    X = load_iris().data
    links = Constraints(must_link=[(0, i) for i in range(1, n_rows)])
    expected = RCA(shrinkage=4 / (4 + n_rows - 1)).fit(X, constraints=links).metric_matrix_
    np.testing.assert_array_equal(RCA().fit(X, constraints=links).metric_matrix_, expected)


@given(seed=st.integers(0, 1000), n_features=st.integers(1, 4), shrinkage=st.sampled_from([0.01, 0.2, 0.7]))
@settings(deadline=None, max_examples=25)
def test_held_out_alignment_equals_learning_without_each_row(seed: int, n_features: int, shrinkage: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, n_features)) @ rng.normal(size=(n_features, n_features))
    links = Constraints.sample(rng.integers(3, size=30), n_pairs=20, random_state=seed)
    units = Units.of(X)
    within = WithinComponents.of(X, links.components(30), units)
    (found,) = held_out_alignment(X, within, units, [shrinkage])
    expected = alignment_by_leaving_out(X, links, shrinkage)
    np.testing.assert_allclose(found, np.clip(expected, -3, 3), rtol=1e-6, atol=1e-9)


def collinear_table(is_informative: bool) -> tuple[np.ndarray, np.ndarray]:
    """Classes in three small factors below three large ones, or in the large ones; 18 columns mix all six."""
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=400)
    means = rng.normal(size=(4, 3)) * 2.0
    small, large = rng.normal(size=(400, 3)) * 0.7, rng.normal(size=(400, 3)) * 8.0
    if is_informative:
        small = small + means[y]
    else:
        large = large + 8 * means[y]
    mix = rng.normal(size=(6, 18))
    return np.hstack([small, large]) @ mix + rng.normal(size=(400, 18)) * 0.1, y


@pytest.mark.parametrize("is_informative", [True, False])
def test_the_links_decide_whether_small_directions_count(is_informative: bool) -> None:
    X, y = collinear_table(is_informative)
    links = Constraints.sample(y, n_pairs=200, random_state=0)
    metric = RCA().fit(X, constraints=links)
    default = 18 / (18 + 100)
    scores = {}
    for name, Z in (
        ("chosen", metric.transform(X)),
        ("default", RCA(shrinkage=default).fit_transform(X, constraints=links)),
    ):
        labels = KMeans(4, n_init=5, random_state=0).fit_predict(Z)
        scores[name] = normalized_mutual_info_score(y, labels)
    if is_informative:
        assert metric.shrinkage_ < default / 3
        assert scores["chosen"] > scores["default"] + 0.1
    else:
        assert metric.shrinkage_ == default
        assert scores["chosen"] == scores["default"]


def test_chosen_shrinkage_does_not_depend_on_units_blocks_or_sparse_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = collinear_table(is_informative=True)
    links = Constraints.sample(y, n_pairs=200, random_state=0)
    chosen = RCA().fit(X, constraints=links).shrinkage_
    monkeypatch.setattr(_shrinkage, "BLOCK_ROWS", 64)
    for other in (X * np.logspace(-3, 3, 18) + 5.0, csr_array(X)):
        assert RCA().fit(other, constraints=links).shrinkage_ == chosen
    assert RCA(shrinkage=0.25).fit(X, constraints=links).shrinkage_ == 0.25
    assert RCA().fit(X).shrinkage_ == 1.0


def test_rca_with_full_shrinkage_standardizes() -> None:
    X = load_iris().data
    links = Constraints.sample(load_iris().target, n_pairs=60, random_state=0)
    Z = RCA(shrinkage=1.0).fit_transform(X, constraints=links)
    assert Z.std(axis=0) == pytest.approx(np.full(4, Z.std(axis=0)[0]))


def test_constant_features_are_ignored() -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, n_pairs=60, random_state=0)
    wider = np.column_stack([X[:, :2], np.full(150, 0.1), X[:, 2:]])
    for metric in (RCA(), DCA()):
        expected = metric.fit_transform(X, constraints=links)
        np.testing.assert_array_equal(metric.fit_transform(wider, constraints=links), expected)
        assert not metric.components_[:, 2].any()


@given(seed=st.integers(0, 1000), n_features=st.integers(1, 4))
@settings(deadline=None, max_examples=25)
def test_dca_solves_the_generalized_eigenproblem(seed: int, n_features: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, n_features))
    must = [(i, i + 8) for i in range(8)] + [(0, 16), (1, 17)]
    cannot = [(0, 1), (8, 2), (3, 20), (21, 22), (9, 16), (0, 8)]  # the last is within a component
    links = Constraints([pair for pair in must if pair != (0, 8)] + [(8, 16)], cannot)
    metric = DCA(shrinkage=0.0).fit(X, constraints=links)
    between, within = dca_scatters(X, links)
    ratios = np.sort(eig(between, within)[0].real)[::-1]
    np.testing.assert_allclose(metric.ratios_, ratios[: len(metric.ratios_)], rtol=1e-6)
    np.testing.assert_allclose(ratios[len(metric.ratios_) :], 0.0, atol=1e-8 * ratios[0])
    C = metric.components_
    np.testing.assert_allclose(C @ within @ C.T, np.eye(len(C)), atol=1e-8)
    np.testing.assert_allclose(C @ between @ C.T, np.diag(metric.ratios_), atol=1e-8 * (1 + ratios[0]))


def test_dca_keeps_n_components_directions() -> None:
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, n_pairs=60, random_state=0)
    whole = DCA().fit(X, constraints=links)
    assert whole.components_.shape == (4, 4)
    assert all(np.diff(whole.ratios_) < 0)
    best = DCA(n_components=2).fit(X, constraints=links)
    np.testing.assert_array_equal(best.components_, whole.components_[:2])
    assert best.transform(X).shape == (150, 2)
