"""The shared core of the mixtures: densities and EM against scikit-learn, starts, singular covariances."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from mustlink.mixture._base import EMSteps, LinkedMixture
from mustlink.mixture._gaussians import COVARIANCE_TYPES, Gaussians, normalize_logs

FROM_FEW_ROWS = ["k-means++", "random_from_data"]
STARTS = ["kmeans", "random", *FROM_FEW_ROWS]
# From few rows, scikit-learn counts the rows without any mass in the first tied covariance.
LIKE_SCIKIT_LEARN = set(itertools.product(COVARIANCE_TYPES, STARTS)) - {("tied", start) for start in FROM_FEW_ROWS}
LIKE_SCIKIT_LEARN = sorted(LIKE_SCIKIT_LEARN)


class PlainMixture(LinkedMixture):
    """A mixture that takes no notice of links."""

    def __init__(
        self,
        n_components=3,
        *,
        covariance_type="full",
        tol=1e-3,
        reg_covar=1e-6,
        max_iter=100,
        n_init=1,
        init_params="kmeans",
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.random_state = random_state
        self.verbose = verbose

    def _plan(self, X, links, rng):
        return EMSteps()


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(300, n_features=4, centers=3, cluster_std=2.0, random_state=1)[0]


def random_masses(seed, n=40, d=3, k=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 5, rng.dirichlet(np.ones(k), size=n)


def matrices(gaussians):
    """The covariances as full matrices."""
    n_components, n_features = gaussians.means.shape
    for c in range(n_components):
        if gaussians.covariance_type == "tied":
            yield gaussians.covariances
        elif gaussians.covariance_type == "full":
            yield gaussians.covariances[c]
        else:
            yield np.eye(n_features) * gaussians.covariances[c]


# ---- densities ------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(COVARIANCE_TYPES))
def test_densities_equal_those_of_scipy(seed, covariance_type):
    X, masses = random_masses(seed)
    gaussians = Gaussians.estimate(X, masses, covariance_type=covariance_type)
    expected = np.column_stack(
        [
            multivariate_normal(mean, cov).logpdf(X)
            for mean, cov in zip(gaussians.means, matrices(gaussians), strict=True)
        ]
    )
    np.testing.assert_allclose(gaussians.log_density(X), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_a_weight_of_two_is_a_row_given_twice(covariance_type):
    X, masses = random_masses(0)
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    once = Gaussians.estimate(X, masses * weight[:, None], covariance_type=covariance_type)
    twice = Gaussians.estimate(
        np.repeat(X, weight, axis=0), np.repeat(masses, weight, axis=0), covariance_type=covariance_type
    )
    np.testing.assert_allclose(once.means, twice.means)
    np.testing.assert_allclose(once.covariances, twice.covariances, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_many_rows_are_estimated_in_batches(covariance_type):
    X, masses = random_masses(0, n=5_000)
    whole = Gaussians.estimate(X, masses, covariance_type=covariance_type)
    mean = masses[:, 1] @ X / masses[:, 1].sum()
    np.testing.assert_allclose(whole.means[1], mean)
    if covariance_type == "full":
        expected = np.cov(X.T, aweights=masses[:, 1], ddof=0) + 1e-6 * np.eye(3)
        np.testing.assert_allclose(whole.covariances[1], expected)
    parts = np.concatenate([whole.log_density(X[:777]), whole.log_density(X[777:])])
    np.testing.assert_allclose(whole.log_density(X), parts)


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_rows_far_from_the_origin(covariance_type):
    X, masses = random_masses(3)
    near = Gaussians.estimate(X, masses, covariance_type=covariance_type)
    far = Gaussians.estimate(X + 1e7, masses, covariance_type=covariance_type)
    np.testing.assert_allclose(far.log_density(X + 1e7), near.log_density(X), atol=1e-4)


def test_logarithms_are_normalized():
    logs = np.array([[0.0, -np.inf, 0.0], [-1000.0, -1001.0, -2000.0], [700.0, 0.0, 0.0]])
    probabilities, log_sums = normalize_logs(logs)
    np.testing.assert_allclose(probabilities[0], [0.5, 0, 0.5])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(log_sums, np.logaddexp.reduce(logs, axis=1))


def test_covariances_are_shrunk_towards_the_pooled_one():
    X, masses = random_masses(2)
    alone = Gaussians.estimate(X, masses, reg_covar=0.0)
    shrunk = Gaussians.estimate(X, masses, reg_covar=0.5, pooled_rows=7)
    total = masses.sum(axis=0)
    pooled = np.einsum("c,cij->ij", total / total.sum(), alone.covariances) + 0.5 * np.eye(3)
    expected = (total[:, None, None] * alone.covariances + 7 * pooled) / (total + 7)[:, None, None]
    np.testing.assert_allclose(shrunk.covariances, expected)
    with pytest.raises(ValueError, match=r'pooled_rows needs covariance_type="full"; got \'diag\''):
        Gaussians.estimate(X, masses, covariance_type="diag", pooled_rows=7)


# ---- scikit-learn ---------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("covariance_type", "init_params"), LIKE_SCIKIT_LEARN)
def test_every_iteration_equals_that_of_scikit_learn(blobs, covariance_type, init_params):
    options = {"covariance_type": covariance_type, "init_params": init_params, "random_state": 3, "n_init": 2}
    for max_iter in (1, 2, 5, 100):
        ours = PlainMixture(3, max_iter=max_iter, **options).fit(blobs)
        theirs = GaussianMixture(3, max_iter=max_iter, **options).fit(blobs)
        assert ours.n_iter_ == theirs.n_iter_
        assert ours.converged_ == theirs.converged_
        # scikit-learn starts from a few rows with weights of which the sum is not one.
        first = int(init_params in FROM_FEW_ROWS)
        np.testing.assert_allclose(ours.objective_[first:], theirs.lower_bounds_[first:], rtol=1e-8)
        assert ours.lower_bound_ == ours.objective_[-1]
        for name in ("weights_", "means_", "covariances_", "precisions_cholesky_"):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-5, atol=1e-8, err_msg=name)
        np.testing.assert_array_equal(ours.labels_, theirs.predict(blobs))


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_methods_for_new_rows_equal_those_of_scikit_learn(blobs, covariance_type):
    ours = PlainMixture(3, covariance_type=covariance_type, random_state=0).fit(blobs[:200])
    theirs = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(blobs[:200])
    new = blobs[200:]
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-8)
    np.testing.assert_allclose(ours.score_samples(new), theirs.score_samples(new))
    for name in ("score", "bic", "aic"):
        assert getattr(ours, name)(new) == pytest.approx(getattr(theirs, name)(new))
    np.testing.assert_array_equal(ours.labels_, ours.predict(blobs[:200]))


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_samples_have_the_moments_of_the_mixture(blobs, covariance_type):
    model = PlainMixture(3, covariance_type=covariance_type, random_state=0).fit(blobs)
    X, y = model.sample(30_000)
    assert X.shape == (30_000, 4)
    np.testing.assert_allclose(np.bincount(y) / 30_000, model.weights_, atol=0.02)
    gaussians = Gaussians(model.means_, model.covariances_, model.precisions_cholesky_, covariance_type)
    for c, matrix in enumerate(matrices(gaussians)):
        np.testing.assert_allclose(X[y == c].mean(axis=0), model.means_[c], atol=0.15)
        np.testing.assert_allclose(np.cov(X[y == c].T), matrix, atol=0.35)
    with pytest.raises(ValueError, match="at least 1; got 0"):
        model.sample(0)


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_single_precision_is_kept(blobs, covariance_type):
    model = PlainMixture(3, covariance_type=covariance_type, random_state=0).fit(blobs.astype(np.float32))
    arrays = (model.means_, model.covariances_, model.precisions_cholesky_, model.weights_, model.responsibilities_)
    assert {array.dtype for array in arrays} == {np.dtype(np.float32)}
    double = PlainMixture(3, covariance_type=covariance_type, random_state=0).fit(blobs)
    np.testing.assert_allclose(model.means_, double.means_, rtol=0.01, atol=0.01)
    np.testing.assert_array_equal(model.labels_, model.predict(blobs.astype(np.float32)))


def test_the_best_of_several_runs_is_kept(blobs):
    several = PlainMixture(5, init_params="random_from_data", n_init=6, random_state=0).fit(blobs)
    rng = np.random.RandomState(0)
    each = [PlainMixture(5, init_params="random_from_data", random_state=rng).fit(blobs) for _ in range(6)]
    assert several.lower_bound_ == max(model.lower_bound_ for model in each)
    assert len({model.lower_bound_ for model in each}) > 1


# ---- what goes wrong ------------------------------------------------------------------------------------------------


def test_a_run_that_does_not_converge_warns(blobs):
    with pytest.warns(ConvergenceWarning, match="PlainMixture did not converge in 2 iterations"):
        model = PlainMixture(3, max_iter=2, tol=0.0, random_state=0).fit(blobs)
    assert not model.converged_
    assert len(model.objective_) == 2


@pytest.mark.parametrize("covariance_type", ["full", "diag", "spherical"])
def test_singular_covariances_are_repaired_and_named(covariance_type):
    # The second cluster is one point.
    X = np.concatenate([np.random.default_rng(0).normal(size=(20, 2)), np.full((5, 2), 9.0)])
    model = PlainMixture(2, covariance_type=covariance_type, reg_covar=0.0, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"covariance of mixture component \d was singular"):
        model.fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    np.testing.assert_array_equal(np.bincount(model.labels_)[model.labels_[[0, -1]]], [20, 5])


def test_a_singular_tied_covariance_is_repaired():
    X = np.random.default_rng(0).normal(size=(20, 1)) * [1.0, 2.0]
    with pytest.warns(ConvergenceWarning, match="The tied covariance was singular"):
        model = PlainMixture(2, covariance_type="tied", reg_covar=0.0, random_state=0).fit(X)
    assert np.isfinite(model.score_samples(X)).all()


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_columns_that_depend_on_each_other_at_any_scale(scale):
    X = np.random.default_rng(0).normal(size=(30, 2)) * scale
    X = np.column_stack([X, X.sum(axis=1)])
    with pytest.warns(ConvergenceWarning, match="was singular"):
        model = PlainMixture(1, reg_covar=0.0).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    np.testing.assert_allclose(model.covariances_[0], np.cov(X.T, ddof=0), rtol=1e-4)


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_fewer_rows_than_columns(covariance_type):
    X = np.random.default_rng(0).normal(size=(6, 12))
    model = PlainMixture(2, covariance_type=covariance_type, random_state=0).fit(X)
    assert np.isfinite(model.score_samples(X)).all()


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_a_dead_component_gets_the_mean_of_all_rows(covariance_type):
    X, masses = random_masses(0)
    masses[:, 2] = 0
    gaussians = Gaussians.estimate(X, masses, covariance_type=covariance_type)
    np.testing.assert_allclose(gaussians.means[2], masses.sum(axis=1) @ X / masses.sum())
    assert np.isfinite(gaussians.log_density(X)).all()
    assert gaussians.repaired == ()


def test_equal_rows_are_one_cluster():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = PlainMixture(3, random_state=0).fit(np.full((10, 2), 4.0))
    assert "3 clusters were asked for, and 1 was found" in str(caught[-1].message)
    assert np.isfinite(model.responsibilities_).all()


def test_more_components_than_rows():
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_components=3"):
        PlainMixture(3).fit([[0.0], [1.0]])
