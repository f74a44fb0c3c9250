"""KernelKMeans: the fast ways are the dense definition, and the objective never rises."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine, make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.model_selection import cross_validate
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from mustlink import Constraints, KernelKMeans
from mustlink.errors import TooLargeError
from mustlink.kmeans._kernelkmeans_passes import least_shift
from reference.kernelkmeans import dense_links, kernel_k_means, objective
from reference.random_links import Case, cases

SETTINGS = settings(deadline=None, max_examples=60)


def balanced(rng: np.random.RandomState, n: int, k: int) -> np.ndarray:
    """Return random labels with no empty cluster."""
    return rng.permutation(np.arange(n) % k)


def problem(case: Case, seed: int) -> tuple[np.ndarray, Constraints, np.random.RandomState]:
    rng = np.random.RandomState(seed)
    links = Constraints(
        case.must_link,
        case.cannot_link,
        must_link_weight=rng.uniform(0.5, 2, size=len(case.must_link)),
        cannot_link_weight=rng.uniform(0.5, 2, size=len(case.cannot_link)),
    )
    return rng.normal(size=(case.n_samples, 2)), links, rng


def small_and_linked(n: int = 90, n_pairs: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray, Constraints]:
    X, y = make_blobs(n, n_features=3, centers=3, cluster_std=2.5, random_state=seed)
    return X, y, Constraints.sample(y, n_pairs=n_pairs, random_state=seed)


@given(
    case=cases(max_samples=10, min_samples=4),
    k=st.integers(1, 3),
    price=st.sampled_from([0.0, 0.2, 1.0, 5.0]),
    seed=st.integers(0, 99),
)
@SETTINGS
def test_passes_are_dense_kernel_k_means(case: Case, k: int, price: float, seed: int) -> None:
    X, links, rng = problem(case, seed)
    S, W = rbf_kernel(X, gamma=0.5), dense_links(links, price, len(X))
    start = balanced(rng, len(X), k)
    fast = KernelKMeans(k, gamma=0.5, penalty=price, init=start, local_search=False).fit(X, constraints=links)
    assert np.linalg.eigvalsh(S + W + fast.shift_ * np.eye(len(X)))[0] > -1e-9
    slow, was_empty = kernel_k_means(S + W + fast.shift_ * np.eye(len(X)), start, k)
    # The slow version does not know what to do with empty clusters.
    assume(not was_empty)
    np.testing.assert_array_equal(fast.labels_, slow)
    assert fast.objective_[-1] == pytest.approx(objective(S, W, slow))


@given(
    case=cases(max_samples=12, min_samples=4),
    k=st.integers(1, 4),
    price=st.sampled_from([0.0, 0.2, 1.0, 5.0]),
    seed=st.integers(0, 99),
    way=st.sampled_from(["exact", "nystroem"]),
)
@SETTINGS
def test_the_objective_never_rises_and_no_single_move_lowers_it(
    case: Case, k: int, price: float, seed: int, way: str
) -> None:
    X, links, rng = problem(case, seed)
    S, W = rbf_kernel(X, gamma=0.5), dense_links(links, price, len(X))
    model = KernelKMeans(
        k, gamma=0.5, penalty=price, init=balanced(rng, len(X), k), approximation=way, n_components=len(X)
    ).fit(X, constraints=links)
    assert all(after <= before + 1e-12 for before, after in pairwise(model.objective_))
    labels = model.labels_
    assert len(np.unique(labels)) == k
    value = objective(S, W, labels)
    assert model.objective_[-1] == pytest.approx(value, abs=1e-6)
    for i in range(len(X)):
        for c in range(k):
            other = np.where(np.arange(len(X)) == i, c, labels)
            if len(np.unique(other)) == k:
                assert objective(S, W, other) > value - 1e-6


@given(seed=st.integers(0, 99), k=st.integers(1, 4), n=st.integers(6, 25))
@SETTINGS
def test_a_linear_kernel_without_links_is_k_means_from_the_same_start(seed: int, k: int, n: int) -> None:
    rng = np.random.RandomState(seed)
    X, start = rng.normal(size=(n, 3)), balanced(rng, n, k)
    centers = np.array([X[start == c].mean(axis=0) for c in range(k)])
    theirs = KMeans(k, init=centers, n_init=1, tol=0).fit(X)
    ours = KernelKMeans(k, kernel="linear", init=start, local_search=False).fit(X)
    _, was_empty = kernel_k_means(X @ X.T, start, k)
    assume(not was_empty)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    new = rng.normal(size=(20, 3))
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))


@pytest.mark.parametrize(
    ("kernel", "parameters", "matrix"),
    [
        ("rbf", {}, lambda X, Y: rbf_kernel(X, Y, gamma=1 / X.var(axis=0).sum())),
        ("laplacian", {"gamma": 0.2}, lambda X, Y: laplacian_kernel(X, Y, gamma=0.2)),
        ("poly", {"gamma": 0.1, "degree": 2, "coef0": 3}, lambda X, Y: polynomial_kernel(X, Y, 2, 0.1, 3)),
        (lambda a, b, power: float(a @ b) ** power, {"kernel_params": {"power": 3}}, lambda X, Y: (X @ Y.T) ** 3),
    ],
    ids=["rbf", "laplacian", "poly", "callable"],
)
def test_a_precomputed_kernel_is_the_computed_one(kernel: Any, parameters: dict[str, Any], matrix: Any) -> None:
    X, _, links = small_and_linked()
    new = X[:7] + 0.3
    ours = KernelKMeans(3, kernel=kernel, random_state=0, **parameters).fit(X, constraints=links)
    start = KernelKMeans(3, kernel="precomputed", init=ours.labels_, random_state=0)
    again = start.fit(matrix(X, X), constraints=links)
    np.testing.assert_array_equal(ours.labels_, again.labels_)
    assert ours.objective_[-1] == pytest.approx(again.objective_[-1])
    between = rbf_kernel(new, X, gamma=ours.gamma_) if kernel == "rbf" else matrix(new, X)
    np.testing.assert_array_equal(ours.predict(new), again.predict(between))


def test_features_from_all_rows_are_the_exact_kernel() -> None:
    X, _, links = small_and_linked()
    start = balanced(np.random.RandomState(0), len(X), 3)
    exact = KernelKMeans(3, init=start).fit(X, constraints=links)
    features = KernelKMeans(3, init=start, approximation="nystroem", n_components=len(X), random_state=0)
    features.fit(X, constraints=links)
    np.testing.assert_array_equal(exact.labels_, features.labels_)
    for place in (0, -1):
        assert exact.objective_[place] == pytest.approx(features.objective_[place])
    assert exact.penalty_ == pytest.approx(features.penalty_)
    np.testing.assert_array_equal(exact.predict(X + 0.1), features.predict(X + 0.1))


def test_few_landmarks_find_clear_clusters() -> None:
    X, y = make_blobs(600, centers=3, random_state=0, cluster_std=0.5)
    links = Constraints.sample(y, n_pairs=50, random_state=0)
    model = KernelKMeans(3, approximation="nystroem", n_components=20, random_state=0).fit(X, constraints=links)
    assert len(model.landmarks_) == 20
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert (model.predict(X) == model.labels_).mean() > 0.98


@given(seed=st.integers(0, 30), kind=st.sampled_from(["must_link", "cannot_link"]))
@settings(deadline=None, max_examples=20)
def test_a_large_weight_keeps_an_easy_set_of_links(seed: int, kind: str) -> None:
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(60, 2))
    links = Constraints(**{kind: rng.permutation(60)[:40].reshape(-1, 2)})
    assert KernelKMeans(3, penalty=100.0, random_state=0).fit(X, constraints=links).violations_.is_empty
    assert not KernelKMeans(3, penalty=0.0, random_state=0).fit(X, constraints=links).violations_.is_empty


def test_links_of_both_kinds_are_kept_as_the_weight_grows() -> None:
    X, _, links = small_and_linked()
    broken = [
        len(KernelKMeans(3, penalty=price, random_state=0).fit(X, constraints=links).violations_)
        for price in (0.0, 3.0, 10.0)
    ]
    assert broken[0] > broken[1] > broken[2] == 0


@pytest.mark.parametrize("n", [50, 1500])
def test_the_shift_is_minus_the_least_eigenvalue_of_the_links(n: int) -> None:
    rng = np.random.RandomState(0)
    links = Constraints.sample(rng.randint(3, size=n), n_pairs=n, random_state=0)
    W = 2.0 * links.signed(n)
    least = -float(np.linalg.eigvalsh(W.toarray())[0])
    assert least <= least_shift(W) * (1 + 1e-12)
    assert least_shift(W) <= 1.01 * least
    assert least_shift(2.0 * Constraints().signed(n)) == 0.0


def test_rings_are_found_with_links() -> None:
    X, ring = make_circles(300, factor=0.3, noise=0.05, random_state=1)
    links = Constraints.sample(ring, n_pairs=20, random_state=1)
    model = KernelKMeans(2, random_state=0).fit(X, constraints=links)
    assert adjusted_rand_score(ring, model.labels_) == 1.0
    assert adjusted_rand_score(ring, KMeans(2, n_init=1, random_state=0).fit(X).labels_) < 0.1


def test_links_lift_agreement_with_the_truth() -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, 5:]
    links = [Constraints.sample(y, n_pairs=170, random_state=seed) for seed in range(3)]
    plain = adjusted_rand_score(y, KernelKMeans(3, random_state=0).fit(X).labels_)
    ours = [adjusted_rand_score(y, KernelKMeans(3, random_state=0).fit(X, constraints=some).labels_) for some in links]
    assert np.mean(ours) > plain + 0.03


@pytest.mark.parametrize(("value", "dtype"), [(0.3, np.float64), (4.47e-14, np.float32), (1e-22, np.float32)])
def test_gamma_of_equal_rows_is_one(value: float, dtype: type) -> None:
    # Their variance is rounding, and one over it is infinite in single precision.
    X = np.full((14, 3), value, dtype=dtype)
    assert KernelKMeans(1, random_state=0).fit(X).gamma_ == 1.0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_gamma_of_rows_far_from_zero_in_single_precision(form: Any) -> None:
    X = np.random.default_rng(0).normal(1e4, 1, (60, 3)).astype(np.float32)
    expected = 1 / X.var(axis=0, dtype=np.float64).sum()
    assert KernelKMeans(1, random_state=0).fit(form(X)).gamma_ == pytest.approx(expected, rel=1e-3)


def test_gamma_of_rows_too_close_for_their_precision_is_one() -> None:
    X = np.array([[1e-22], [3e-22], [7e-22]], dtype=np.float32)
    assert KernelKMeans(1, random_state=0).fit(X).gamma_ == 1.0


def test_gamma_is_one_over_the_number_of_standardized_columns() -> None:
    X = StandardScaler().fit_transform(load_wine().data)
    assert KernelKMeans(3, random_state=0).fit(X).gamma_ == pytest.approx(1 / 13)
    assert KernelKMeans(3, random_state=0).fit(100 * X + 7).gamma_ == pytest.approx(1e-4 / 13)
    assert KernelKMeans(2, random_state=0, kernel="chi2").fit(np.abs(X)).gamma_ == 1.0


def test_a_precomputed_kernel_is_sliced_by_cross_validation() -> None:
    X, y, _ = small_and_linked()
    S = rbf_kernel(X, gamma=0.1)
    assert get_tags(KernelKMeans(kernel="precomputed")).input_tags.pairwise
    assert not get_tags(KernelKMeans()).input_tags.pairwise
    scores = cross_validate(KernelKMeans(3, kernel="precomputed", random_state=0), S, y, cv=3, scoring="rand_score")
    assert (scores["test_score"] > 0.6).all()


def test_a_kernel_that_is_not_positive_still_lowers_the_objective() -> None:
    rng = np.random.RandomState(0)
    S = rng.normal(size=(40, 40))
    S = S + S.T
    model = KernelKMeans(3, kernel="precomputed", init=balanced(rng, 40, 3)).fit(S)
    assert len(model.objective_) > 1
    assert all(after < before for before, after in pairwise(model.objective_))
    assert model.objective_[-1] == pytest.approx(objective(S, np.zeros((40, 40)), model.labels_))


def test_too_many_rows_are_refused_with_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mustlink.kmeans._kernelkmeans.MAX_EXACT", 50)
    monkeypatch.setattr("mustlink.kmeans._kernelkmeans.MAX_EXACT_AUTO", 40)
    X = np.random.RandomState(0).normal(size=(60, 2))
    with pytest.raises(TooLargeError, match="60 x 60"):
        KernelKMeans(2, approximation="exact").fit(X)
    assert hasattr(KernelKMeans(2, random_state=0).fit(X), "landmarks_")
    assert not hasattr(KernelKMeans(2, random_state=0).fit(X[:40]), "landmarks_")


def test_bad_kernels_and_starts_are_refused() -> None:
    X, _, _ = small_and_linked()
    with pytest.raises(ValueError, match="must be square"):
        KernelKMeans(2, kernel="precomputed").fit(X)
    S = rbf_kernel(X)
    S[3, 8] += 1.0
    with pytest.raises(ValueError, match="rows 3 and 8"):
        KernelKMeans(2, kernel="precomputed").fit(S)
    with pytest.raises(ValueError, match="each of the 90 rows"):
        KernelKMeans(2, init=[0, 1]).fit(X)
    with pytest.raises(ValueError, match="from 0 to 1"):
        KernelKMeans(2, init=np.arange(90) % 3).fit(X)


def test_a_sparse_table_gives_the_same_clusters() -> None:
    X, _, links = small_and_linked()
    dense = KernelKMeans(3, random_state=0).fit(X, constraints=links)
    thin = KernelKMeans(3, random_state=0).fit(sparse.csr_array(X), constraints=links)
    np.testing.assert_array_equal(dense.labels_, thin.labels_)
    np.testing.assert_array_equal(dense.predict(X), thin.predict(sparse.csr_array(X)))


def test_equal_rows_leave_clusters_empty_with_a_warning() -> None:
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    with pytest.warns(match="4 clusters were asked for, and 2 w"):
        model = KernelKMeans(4, random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
