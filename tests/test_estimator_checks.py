"""The checks themselves: a correct estimator passes all, and for every check a wrong one fails it."""

from __future__ import annotations

import builtins
import copy
import itertools
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from mustlink import Constraints
from mustlink.base import ConstrainedClusterMixin, TableClusterMixin
from mustlink.constraints import AlignedConstraints
from mustlink.errors import InfeasibleError, InfeasibleWarning
from mustlink.estimator_checks import _expect, check_constrained_clusterer, parametrize_with_checks, yield_checks

# --------------------------------------------------------------------------------------------------------------------
# Two correct estimators


class Soft(ConstrainedClusterMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """k-means on the means of must-link components; cannot-links are ignored."""

    def __init__(self, n_clusters: int = 8, init: Any = "k-means++", random_state: Any = None) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        X, links, _ = self._check_fit_input(X, y, constraints)
        component = links.components(len(X))
        sizes = np.bincount(component)
        means = np.column_stack([np.bincount(component, weights=column) / sizes for column in X.T]).astype(X.dtype)
        inner = KMeans(self.n_clusters, init=self.init, n_init=1, random_state=self._seed()).fit(
            means, sample_weight=sizes
        )
        self.cluster_centers_ = inner.cluster_centers_
        self.labels_ = self._place(inner.transform(means), links)[component]
        self.violations_ = links.violations(self.labels_)
        self._n_features_out = self.n_clusters
        return self

    def _check_rows(self, X: Any, *, reset: bool = True) -> NDArray[Any]:
        checked: NDArray[Any] = validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])
        return checked

    def _seed(self) -> Any:
        return self.random_state

    def _place(self, distances: NDArray[Any], links: Constraints) -> NDArray[np.intp]:
        return distances.argmin(axis=1)

    def predict(self, X: Any) -> NDArray[np.intp]:
        return np.asarray(self._distances(X).argmin(axis=1))

    def transform(self, X: Any) -> NDArray[Any]:
        return self._distances(X)

    def _distances(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        return np.sqrt(((X[:, None, :] - self.cluster_centers_[None]) ** 2).sum(axis=2))


class Hard(Soft):
    """The same, then every component takes the nearest center that its cannot-links allow, in the order given."""

    def __init__(
        self, n_clusters: int = 8, init: Any = "k-means++", random_state: Any = None, on_infeasible: str = "raise"
    ) -> None:
        super().__init__(n_clusters, init, random_state)
        self.on_infeasible = on_infeasible

    def _place(self, distances: NDArray[Any], links: Constraints) -> NDArray[np.intp]:
        closure = links.closure(int(links.constrained_rows().max(initial=-1)) + 1)
        problem = str(links.conflicts()[0]) if len(links.conflicts()) else None
        labels = np.full(len(distances), -1)
        graph = closure.graph()
        start, neighbors = graph.indptr, graph.indices
        for component in range(closure.n_components):
            taken = labels[neighbors[start[component] : start[component + 1]]]
            allowed = np.setdiff1d(np.arange(self.n_clusters), taken)
            if len(allowed) == 0:
                problem = "No cluster is left."
                allowed = np.arange(self.n_clusters)
            labels[component] = allowed[distances[component, allowed].argmin()]
        if problem is not None:
            self._give_up(problem)
        free = labels < 0
        labels[free] = distances[free].argmin(axis=1)
        return labels

    def _give_up(self, problem: str) -> None:
        if self.on_infeasible == "raise":
            raise InfeasibleError(problem)
        warnings.warn(problem, InfeasibleWarning, stacklevel=4)


def k_means(estimator: Any) -> KMeans:
    return KMeans(estimator.n_clusters, init=estimator.init, n_init=1)


@parametrize_with_checks([Soft(), Hard()], unconstrained=lambda estimator: k_means)
def test_a_correct_estimator_passes(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


# --------------------------------------------------------------------------------------------------------------------
# Wrong estimators, each wrong in one way


class DoesNotRequest(Soft):
    __metadata_request__fit = {"constraints": None}  # noqa: RUF012


class ReturnsNothing(Soft):
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> None:  # type: ignore[override]
        super().fit(X, y, constraints=constraints)


class After(Soft):
    """Fits correctly and then breaks something."""

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        super().fit(X, y, constraints=constraints)
        self.damage(X)
        return self

    def damage(self, X: Any) -> None:
        raise NotImplementedError


def relabeled(change: Callable[[NDArray[Any]], Any]) -> type[Soft]:
    """Make an estimator that changes its labels at the end."""

    class Relabeled(After):
        def damage(self, X: Any) -> None:
            self.labels_ = change(self.labels_)

    return Relabeled


def lumping(applies: Callable[[Any], bool]) -> type[Soft]:
    """Make an estimator that puts all rows into one cluster if X has a certain form."""

    class Lumping(After):
        def damage(self, X: Any) -> None:
            if applies(X):
                self.labels_ = np.zeros_like(self.labels_)

    return Lumping


class SetsPlainAttribute(After):
    def damage(self, X: Any) -> None:
        self.centers = self.cluster_centers_


class ListsNoViolations(After):
    def damage(self, X: Any) -> None:
        del self.violations_


class ChangesParameter(After):
    def damage(self, X: Any) -> None:
        self.init = np.array(self.cluster_centers_)


class ChangesX(After):
    def damage(self, X: Any) -> None:
        X *= 2


class ChangesPartialLabels(Soft):
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        super().fit(X, y, constraints=constraints)
        y[:] = -1
        return self


class ChangesLinks(Soft):
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        super().fit(X, y, constraints=constraints)
        constraints._pairs = constraints._pairs[::-1]
        return self


class WrongNumberOfFeatures(After):
    def damage(self, X: Any) -> None:
        self.n_features_in_ = 2


class FitPredictForgetsLinks(Soft):
    def fit_predict(self, X: Any, y: Any = None, *, constraints: Any = None, **fit_params: Any) -> Any:
        return self.fit(X, y).labels_


class FitPredictReturnsOthers(Soft):
    def fit_predict(self, X: Any, y: Any = None, *, constraints: Any = None, **fit_params: Any) -> Any:
        return self.fit(X, y, constraints=constraints).labels_ + 1


class UsesGlobalGenerator(Soft):
    def _seed(self) -> Any:
        return None


class RemembersLastFit(Soft):
    def _seed(self) -> Any:
        self._n_fits = getattr(self, "_n_fits", -1) + 1
        return self._n_fits


class PicklesHalf(Soft):
    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state.pop("violations_", None)
        return state


class ClonesAll(Soft):
    def __sklearn_clone__(self) -> Self:
        return copy.deepcopy(self)


class ClonesWithOtherSeed(Soft):
    def __sklearn_clone__(self) -> Self:
        return type(self)(self.n_clusters, self.init, random_state=7)


class NoneIsSomethingElse(Soft):
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        return super().fit(X if constraints is not None or y is not None else -np.square(X), y, constraints=constraints)


class CountsItsFits(Soft):
    counter = itertools.count()

    def _seed(self) -> Any:
        return next(self.counter)


class IgnoresAligned(Soft):
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        return super().fit(X, y, constraints=None if isinstance(constraints, AlignedConstraints) else constraints)


class ListsEveryLink(Soft):
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        super().fit(X, y, constraints=constraints)
        self.violations_ = constraints or Constraints()
        return self


class RefusesConflicts(Soft):
    def _place(self, distances: NDArray[Any], links: Constraints) -> NDArray[np.intp]:
        if len(links.conflicts()):
            raise InfeasibleError("The links contradict each other.")
        return super()._place(distances, links)


class OverlooksConflicts(Hard):
    def _give_up(self, problem: str) -> None:
        pass


class NamesNoRows(Hard):
    def _give_up(self, problem: str) -> None:
        raise InfeasibleError("The links contradict each other.")


class RaisesAnother(Hard):
    def _give_up(self, problem: str) -> None:
        raise RuntimeError(problem)


class HardByName(Hard):
    def _place(self, distances: NDArray[Any], links: Constraints) -> NDArray[np.intp]:
        return Soft._place(self, distances, links)


class HardUpToThirty(Hard):
    """Keeps few links, and ignores more of them without an error."""

    def _place(self, distances: NDArray[Any], links: Constraints) -> NDArray[np.intp]:
        return (Soft if len(links) > 30 else Hard)._place(self, distances, links)


class RelaxesInSilence(Hard):
    def _give_up(self, problem: str) -> None:
        if self.on_infeasible == "raise":
            super()._give_up(problem)


class RelaxesWithoutList(Hard):
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        super().fit(X, y, constraints=constraints)
        self.violations_ = Constraints()
        return self


class DropsRowsOutOfRange(Soft):
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        must, cannot = constraints.must_link, constraints.cannot_link
        kept = Constraints(must[must[:, 1] < len(X)], cannot[cannot[:, 1] < len(X)])
        return super().fit(X, y, constraints=kept)


class TakesLists(Soft):
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        return super().fit(X, y, constraints=Constraints(constraints) if isinstance(constraints, list) else constraints)


class UnpacksAligned(Soft):
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        return super().fit(X, y, constraints=getattr(constraints, "constraints", constraints))


class IgnoresPartialLabels(Soft):
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        return super().fit(X, constraints=constraints)


class PartialLabelsNotListed(Hard):
    """Keeps y, but does not count it among the links."""

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        super().fit(X, y, constraints=constraints)
        self.violations_ = Constraints(must_link=[(0, 4)])
        return self


class NeedsTwoLinks(Soft):
    def _place(self, distances: NDArray[Any], links: Constraints) -> NDArray[np.intp]:
        if len(links) == 1:
            raise ValueError("There is only one link.")
        return super()._place(distances, links)


class CentersInFloat64(After):
    def damage(self, X: Any) -> None:
        self.cluster_centers_ = self.cluster_centers_.astype(np.float64)


class DistancesInFloat64(Soft):
    def transform(self, X: Any) -> NDArray[Any]:
        return self._distances(X).astype(np.float64)


class WritesIntoX(Soft):
    def _check_rows(self, X: Any, *, reset: bool = True) -> NDArray[Any]:
        X = super()._check_rows(X, reset=reset)
        X -= 0
        return X


class ClaimsSparse(Soft):
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class TakesSparseUnasked(Soft):
    def _check_rows(self, X: Any, *, reset: bool = True) -> NDArray[Any]:
        return super()._check_rows(X.toarray() if issparse(X) else X, reset=reset)


class ForgetsNames(Soft):
    def _check_rows(self, X: Any, *, reset: bool = True) -> NDArray[Any]:
        checked: NDArray[Any] = check_array(X, dtype=[np.float64, np.float32])
        self.n_features_in_ = checked.shape[1]
        return checked


class InventsNames(After):
    def damage(self, X: Any) -> None:
        self.feature_names_in_ = np.array([f"column {i}" for i in range(self.n_features_in_)], dtype=object)


class TakesColumnsInAnyOrder(Soft):
    def predict(self, X: Any) -> NDArray[np.intp]:
        return super().predict(X[self.feature_names_in_] if hasattr(X, "columns") else X)


class ReplacesNan(Soft):
    def _check_rows(self, X: Any, *, reset: bool = True) -> NDArray[Any]:
        return super()._check_rows(np.nan_to_num(X, posinf=99.0, neginf=-99.0), reset=reset)


class PredictsDistances(Soft):
    def predict(self, X: Any) -> Any:
        return self._distances(X).min(axis=1)


class PredictsByPosition(Soft):
    def predict(self, X: Any) -> Any:
        return np.arange(len(X)) * self.n_clusters // len(X)


class NoFrames(Soft, auto_wrap_output_keys=None):
    def set_output(self, *, transform: str | None = None) -> Self:
        return self


class OtherNamesThanPromised(Soft):
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        count = next(CountsItsFits.counter)
        return np.array([f"distance {i} {count}" for i in range(self.n_clusters)], dtype=object)


class TakesFarthestCenter(Soft):
    def _place(self, distances: NDArray[Any], links: Constraints) -> NDArray[np.intp]:
        return distances.argmax(axis=1)


class IgnoresGroups(Hard):
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        given = constraints.without_groups() if isinstance(constraints, Constraints) else constraints
        return super().fit(X, y, constraints=given)


WRONG: list[tuple[str, type[Soft], str]] = [
    ("check_metadata_request", DoesNotRequest, "does not request constraints"),
    ("check_fit_returns_self", ReturnsNothing, "does not return the estimator"),
    ("check_names_of_learned_attributes", SetsPlainAttribute, "fit sets centers"),
    ("check_names_of_learned_attributes", ListsNoViolations, "violations_ is not a Constraints"),
    ("check_nothing_given_is_changed", ChangesParameter, "changes the parameters init"),
    ("check_nothing_given_is_changed", ChangesX, "fit changes X"),
    ("check_nothing_given_is_changed", ChangesPartialLabels, "fit changes y"),
    ("check_nothing_given_is_changed", ChangesLinks, "changes the links"),
    ("check_labels", relabeled(lambda labels: labels + 0.0), "not integers"),
    ("check_labels", relabeled(lambda labels: labels.astype(np.int32)), "the dtype int32, not int64"),
    ("check_labels", relabeled(lambda labels: labels + 1), "there are 3 clusters, numbered from 0"),
    ("check_labels", relabeled(lambda labels: labels - 2), "only -1 for noise"),
    ("check_labels", relabeled(lambda labels: labels[:, None]), r"shape \(60, 1\)"),
    ("check_labels", relabeled(lambda labels: labels.tolist()), "a list, not an array"),
    ("check_labels", WrongNumberOfFeatures, "n_features_in_ is 2"),
    ("check_fit_predict", FitPredictForgetsLinks, "fit_predict differs from fit"),
    ("check_fit_predict", FitPredictReturnsOthers, "does not return labels_"),
    ("check_same_seed", UsesGlobalGenerator, "two fits with the same seed differ in"),
    ("check_same_seed", RemembersLastFit, "a second fit of the same estimator differs in"),
    ("check_pickle", PicklesHalf, "after pickling it differs in violations_"),
    ("check_clone", ClonesAll, "a clone keeps"),
    ("check_clone", ClonesWithOtherSeed, "the fit of a clone differs in"),
    ("check_pipeline", DoesNotRequest, "constraints"),
    ("check_pipeline", CountsItsFits, "in a pipeline"),
    ("check_cross_validation", DoesNotRequest, "constraints"),
    ("check_cross_validation", CountsItsFits, "in a fold of cross-validation"),
    ("check_no_links_in_any_form", NoneIsSomethingElse, "differs from no constraints"),
    ("check_order_and_repetition_of_pairs", CountsItsFits, "the order of the pairs matters"),
    ("check_groups", IgnoresGroups, r"Constraints\.from_groups differs"),
    ("check_aligned_form", IgnoresAligned, r"constraints\.on\(n_samples\) differs"),
    (
        "check_permuted_rows",
        relabeled(lambda labels: np.arange(len(labels)) * 3 // len(labels)),
        "the order of the rows matters",
    ),
    ("check_violations", ListsEveryLink, "but the labels break"),
    ("check_contradictory_links", RefusesConflicts, "contradict each other"),
    ("check_contradictory_links", OverlooksConflicts, "nothing was raised"),
    ("check_contradictory_links", NamesNoRows, "does not name 7"),
    ("check_contradictory_links", RaisesAnother, "and RuntimeError was raised"),
    ("check_hard_never_violates", HardByName, r"it is hard, but of Constraints\(12 must-links, 16 cannot-links"),
    ("check_hard_never_violates", HardUpToThirty, "it is hard, but of Constraints"),
    ("check_more_apart_than_clusters", OverlooksConflicts, "nothing was raised"),
    ("check_relaxing", RelaxesInSilence, "no InfeasibleWarning"),
    ("check_relaxing", RelaxesWithoutList, "0 must-links, 0 cannot-links"),
    ("check_rows_out_of_range", DropsRowsOutOfRange, "nothing was raised"),
    ("check_type_of_constraints", TakesLists, "of the type list"),
    ("check_aligned_with_other_rows", UnpacksAligned, "aligned with 59 rows"),
    ("check_partial_labels", IgnoresPartialLabels, "y and the links it implies give different clusters"),
    ("check_partial_labels", PartialLabelsNotListed, "violations_ is"),
    ("check_partial_labels_of_wrong_length", IgnoresPartialLabels, "with 59 partial labels and 60 rows"),
    ("check_few_links", NeedsTwoLinks, "only one link"),
    ("check_few_links", HardByName, "its labels break"),
    ("check_all_rows_in_one_component", relabeled(lambda labels: np.arange(len(labels)) % 2), "there are 2 clusters"),
    (
        "check_dtype_and_memory_order",
        lumping(lambda X: getattr(X, "dtype", None) == np.float32),
        "given as float32 in C order",
    ),
    (
        "check_dtype_and_memory_order",
        lumping(lambda X: isinstance(X, np.ndarray) and not X.flags.c_contiguous),
        "given as float64 in F order",
    ),
    ("check_float32_stays_float32", CentersInFloat64, "cluster_centers_ is float64"),
    ("check_float32_stays_float32", DistancesInFloat64, "transform is float64"),
    ("check_read_only_table", WritesIntoX, "read-only"),
    ("check_read_only_table", lumping(lambda X: isinstance(X, np.memmap)), "a memory-mapped file"),
    ("check_sparse_table", ClaimsSparse, "[Ss]parse"),
    ("check_sparse_table", TakesSparseUnasked, "nothing was raised"),
    ("check_pandas_table", ForgetsNames, "does not contain the columns of the pandas frame"),
    ("check_pandas_table", InventsNames, "X has no names"),
    ("check_pandas_table", lumping(lambda X: hasattr(X, "columns")), "given as a pandas frame"),
    ("check_pandas_table", TakesColumnsInAnyOrder, "with columns in another order"),
    ("check_polars_table", ForgetsNames, "does not contain the columns of the polars frame"),
    ("check_polars_table", lumping(lambda X: hasattr(X, "columns")), "given as a polars frame"),
    ("check_nan_and_infinity", ReplacesNan, "with nan in X"),
    ("check_predict", PredictsDistances, "not integers"),
    ("check_predict", PredictsByPosition, "predict of five rows"),
    ("check_set_output", NoFrames, "not a data frame"),
    ("check_set_output", OtherNamesThanPromised, "not those of get_feature_names_out"),
    ("check_no_links_is_the_unconstrained_algorithm", TakesFarthestCenter, "it differs from KMeans"),
]


@pytest.mark.parametrize(("name", "wrong", "message"), WRONG)
def test_a_wrong_estimator_fails(name: str, wrong: type[Soft], message: str) -> None:
    check = dict(yield_checks(wrong(), unconstrained=k_means))[name]
    with pytest.raises((AssertionError, InfeasibleError, TypeError, ValueError), match=message):
        check(wrong())


def test_every_check_has_a_wrong_estimator() -> None:
    assert {name for name, _, _ in WRONG} == {name for name, _ in yield_checks(Hard(), unconstrained=k_means)}


# --------------------------------------------------------------------------------------------------------------------
# Which checks apply, and how they are run


def names_of(estimator: Any, **arguments: Any) -> set[str]:
    return {name for name, _ in yield_checks(estimator, **arguments)}


def test_checks_depend_on_the_methods_of_the_estimator() -> None:
    class NoPrediction(ConstrainedClusterMixin, BaseEstimator):
        def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> NoPrediction:
            return self

        def __sklearn_tags__(self) -> Any:
            tags = super().__sklearn_tags__()
            tags.input_tags.allow_nan = True
            return tags

    hard_only = {"check_hard_never_violates", "check_relaxing", "check_more_apart_than_clusters"}
    counterpart = {"check_no_links_is_the_unconstrained_algorithm"}
    assert names_of(Hard()) - names_of(Soft()) == hard_only
    assert names_of(Soft(), unconstrained=k_means) - names_of(Soft()) == counterpart
    other = {"check_predict", "check_set_output", "check_nan_and_infinity"}
    assert names_of(Soft()) - names_of(NoPrediction()) == other


class Plain(TableClusterMixin, BaseEstimator):
    """k-means, without links."""

    def __init__(self, n_clusters: int = 8, random_state: Any = None) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state

    def _fit(self, X: Any) -> None:
        self.labels_ = KMeans(self.n_clusters, n_init=1, random_state=self.random_state).fit(X).labels_.astype(np.int64)


def test_an_estimator_without_links_is_checked_for_all_else() -> None:
    outcome = check_constrained_clusterer(Plain(), unconstrained=lambda plain: KMeans(plain.n_clusters, random_state=0))
    assert set(outcome.values()) <= {"passed", "polars is not installed."}
    assert {"check_labels", "check_same_seed", "check_permuted_rows", "check_sparse_table"} <= set(outcome)
    about_links = {"check_metadata_request", "check_violations", "check_rows_out_of_range", "check_partial_labels"}
    assert not about_links & set(outcome)
    assert about_links <= {name for name, _ in yield_checks(Soft())}


def test_a_class_is_refused() -> None:
    with pytest.raises(TypeError, match=r"got the class Soft, so pass Soft\(\)"):
        next(yield_checks(Soft))  # type: ignore[arg-type]


def test_all_checks_at_once() -> None:
    outcome = check_constrained_clusterer(Hard(), unconstrained=k_means)
    assert set(outcome) == names_of(Hard(), unconstrained=k_means)
    assert set(outcome.values()) == {"passed"}
    with pytest.raises(AssertionError, match="Relabeled: labels_ contains 3"):
        check_constrained_clusterer(relabeled(lambda labels: labels + 1)())


def test_a_missing_package_skips_its_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    importer = builtins.__import__

    def without_polars(name: str, *arguments: Any, **more: Any) -> Any:
        if name == "polars":
            raise ImportError(name)
        return importer(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without_polars)
    outcome = check_constrained_clusterer(Soft())
    assert outcome["check_polars_table"] == "polars is not installed."
    assert {name for name, result in outcome.items() if result != "passed"} == {"check_polars_table"}


def test_the_decorator_names_estimator_and_check() -> None:
    mark = parametrize_with_checks([Soft(), Hard()])
    ids = [parameter.id for parameter in mark.args[1]]
    assert mark.args[0] == ("estimator", "check")
    assert ids[0] == "Soft()-check_metadata_request"
    assert len(ids) == len(set(ids)) == len(names_of(Soft())) + len(names_of(Hard()))


def test_checks_leave_the_estimator_as_it_was() -> None:
    estimator = Soft(n_clusters=5, random_state=3)
    check_constrained_clusterer(estimator)
    assert vars(estimator) == {"n_clusters": 5, "init": "k-means++", "random_state": 3}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ([0, 0, 1, 2], [2, 2, 0, 1], True),
        ([0, 0, 1, 2], [0, 0, 1, 1], False),
        ([0, 0, 1, 1], [0, 0, 1, 2], False),
        ([0, 0, -1, -1], [1, 1, -1, -1], True),
        ([0, 0, -1, -1], [1, 1, 0, 0], False),
        ([0, 0], [0, 0, 0], False),
    ],
)
def test_same_partition(one: list[int], other: list[int], same: bool) -> None:
    assert _expect.same_partition(one, other) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
        (np.array([1.0]), np.array([1.0], dtype=np.float32), False),
        (np.array([1.0]), np.array([np.nextafter(1.0, 2.0)]), False),
        (np.array(["a", None], dtype=object), np.array(["a", None], dtype=object), True),
        ({"a": [1.0, (2,)]}, {"a": [1.0, (2,)]}, True),
        ({"a": [1.0, (2,)]}, {"a": [1.0, (3,)]}, False),
        ({"a": 1}, {"b": 1}, False),
        ([1, 2], [1], False),
        (float("nan"), float("nan"), True),
        (1.0, 1, False),
        (Constraints([(0, 1)]), Constraints([(0, 1)]), True),
        (Constraints([(0, 1)]), Constraints([(0, 2)]), False),
        (Soft(), Soft(), True),
    ],
)
def test_same_value(one: Any, other: Any, same: bool) -> None:
    assert _expect.same_value(one, other) is same
