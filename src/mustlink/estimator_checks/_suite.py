"""The checks that an estimator must pass, and three ways to run them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial, wraps
from typing import Any
from unittest import SkipTest

from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from mustlink._estimators import count_parameter, takes_links
from mustlink.estimator_checks import _contract, _input, _links
from mustlink.estimator_checks._cases import is_hard

Check = Callable[[Any], None]

# Checks for some estimators only; all others are for every estimator.
CONDITIONS: dict[Check, Callable[[Any], bool]] = {
    _contract.check_predict: lambda estimator: hasattr(estimator, "predict"),
    _contract.check_set_output: lambda estimator: hasattr(estimator, "transform"),
    _links.check_hard_never_violates: is_hard,
    _links.check_relaxing: is_hard,
    _links.check_more_apart_than_clusters: lambda estimator: (
        is_hard(estimator) and count_parameter(estimator) is not None
    ),
    _input.check_nan_and_infinity: lambda estimator: not get_tags(estimator).input_tags.allow_nan,
}
# Links are the subject of these; an estimator that takes none is checked by the others.
ABOUT_LINKS = {_contract.check_metadata_request, *(check for check in vars(_links).values() if callable(check))}
ABOUT_LINKS -= {_links.check_permuted_rows}
COUNTERPART = _links.check_no_links_is_the_unconstrained_algorithm
CHECKS = [
    check
    for module in (_contract, _links, _input)
    for name, check in vars(module).items()
    if name.startswith("check_") and check is not COUNTERPART
]


def yield_checks(
    estimator: BaseEstimator, *, unconstrained: Callable[[Any], Any] | None = None
) -> Iterator[tuple[str, Check]]:
    """Yield the checks that a constrained clusterer must pass.

    They complement :func:`sklearn.utils.estimator_checks.check_estimator`, which gives no constraints.

    Parameters
    ----------
    estimator : clusterer
        An instance. Each check works on clones of the estimator it is called with, and sets the parameters
        `n_clusters` (of mixtures `n_components`), `random_state` and `on_infeasible` of those clones where they exist.
    unconstrained : callable, default=None
        Given a clone of the estimator, returns the unfitted clusterer that it should be equal to without constraints.
        If the estimator has the parameters `init`, `n_init` and `tol`, they are an array of three centers, 1 and 0 in
        the clone, for a common start of both. None if there is no such clusterer.

    Yields
    ------
    name : str
        The name of the check.
    check : callable
        Takes the estimator. Raises an error if the check fails, and ``unittest.SkipTest`` if a package that it needs
        is not installed.

    Notes
    -----
    An estimator with a parameter `on_infeasible` is taken for hard, unless it has ``enforce="soft"``: it must never
    return labels that break a link. All others are soft and must return a result also for contradictory links. An
    estimator whose ``fit`` has no argument `constraints` takes no links; what concerns links is not checked.
    ``predict`` and ``transform`` are checked if they exist; whether a sparse X and NaN are allowed is read from the
    tags.

    Examples
    --------
    >>> from mustlink import PCKMeans
    >>> from mustlink.estimator_checks import yield_checks
    >>> name, check = next(yield_checks(PCKMeans()))
    >>> name
    'check_metadata_request'
    >>> check(PCKMeans())
    """
    if isinstance(estimator, type):
        raise TypeError(
            f"The checks need an instance; got the class {estimator.__name__}, so pass {estimator.__name__}()."
        )
    for check in CHECKS:
        is_due = check not in CONDITIONS or CONDITIONS[check](estimator)
        if is_due and (check not in ABOUT_LINKS or takes_links(estimator)):
            yield check.__name__, _naming(check)
    if unconstrained is not None:
        yield COUNTERPART.__name__, _naming(partial(COUNTERPART, unconstrained=unconstrained))


def _naming(check: Check) -> Check:
    """Return a check whose message begins with the name of the estimator."""

    @wraps(check)
    def named(estimator: Any) -> None:
        try:
            check(estimator)
        except AssertionError as error:
            raise AssertionError(f"{type(estimator).__name__}: {error}") from error

    return named


def check_constrained_clusterer(
    estimator: BaseEstimator, *, unconstrained: Callable[[Any], Any] | None = None
) -> dict[str, str]:
    """Run all checks of a constrained clusterer, up to the first that fails.

    Parameters
    ----------
    estimator : clusterer
        An instance.
    unconstrained : callable, default=None
        As for :func:`yield_checks`.

    Returns
    -------
    dict of str to str
        For every check, "passed", or the reason why it was skipped.

    Raises
    ------
    Exception
        The error of the first check that fails: an AssertionError with what was expected, or the estimator's own.

    Examples
    --------
    >>> from mustlink import PCKMeans
    >>> from mustlink.estimator_checks import check_constrained_clusterer
    >>> check_constrained_clusterer(PCKMeans())["check_permuted_rows"]
    'passed'
    """
    outcome = {}
    for name, check in yield_checks(estimator, unconstrained=unconstrained):
        try:
            check(estimator)
            outcome[name] = "passed"
        except SkipTest as reason:
            outcome[name] = str(reason)
    return outcome


def parametrize_with_checks(
    estimators: Iterable[BaseEstimator], *, unconstrained: Callable[[Any], Any | None] | None = None
) -> Any:
    """Make a pytest decorator that runs a test once for each estimator and each check.

    Parameters
    ----------
    estimators : iterable of clusterers
        Instances.
    unconstrained : callable, default=None
        Given an estimator of the list, returns what :func:`yield_checks` takes as `unconstrained`, or None.

    Returns
    -------
    pytest.MarkDecorator
        For a test with the arguments `estimator` and `check`.

    Examples
    --------
    >>> from mustlink import PCKMeans
    >>> from mustlink.estimator_checks import parametrize_with_checks
    >>> @parametrize_with_checks([PCKMeans()])
    ... def test_estimator(estimator, check):
    ...     check(estimator)
    """
    import pytest

    parameters = [
        pytest.param(estimator, check, id=f"{' '.join(repr(estimator).split())}-{name}")
        for estimator in estimators
        for name, check in yield_checks(
            estimator, unconstrained=None if unconstrained is None else unconstrained(estimator)
        )
    ]
    return pytest.mark.parametrize(("estimator", "check"), parameters)
