"""PairwiseSVC: the support vector machine from labels and links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Floats, Indices
from mustlink.pairwise._base import BasePairwiseClassifier
from mustlink.pairwise._dual import DualProblem, ascend
from mustlink.pairwise._hinge_states import GAINS, SIDES, HingeObjective, HingeSolution, HingeStates
from mustlink.pairwise._labels import Labels
from mustlink.pairwise._terms import LinkedPairs


class PairwiseSVC(BasePairwiseClassifier):
    """Support vector machine from few labels and many links.

    A support vector machine whose objective has a loss for every link: the difference of the scores of must-linked
    rows, and of a score and the opposite of the other for cannot-linked rows. Links may be between rows without labels.

    Parameters
    ----------
    C : float, default=1.0
        The inverse of the regularization, as in :class:`sklearn.svm.SVC`. The lambda of the source is
        ``1 / (2 * C)``, and its 0.01 is C=50, which takes longer to solve.
    loss : {"convex", "nonconvex"}, default="convex"
        The loss of links. "convex" has one optimum. "nonconvex" rewards scores of linked rows beyond 1 on one side. It
        has local optima, and is flat where the scores of both rows are small: give it a larger C. With the default C,
        and with more than two classes, it can be worse than the labels alone.
    kernel : str or callable, default="rbf"
        A kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, "precomputed" if X is the kernel matrix, or a
        function of two rows. With "linear" a sparse X stays sparse. One that is not positive semidefinite, such as
        "sigmoid" may be, is taken without its negative part, with a warning.
    gamma : float, "scale" or "auto", default="scale"
        The coefficient of the kernels "rbf", "poly", "sigmoid" and others. As in :class:`sklearn.svm.SVC`, "scale" is
        ``1 / (n_features * X.var())`` and "auto" is ``1 / n_features``. "scale" takes the standard deviation instead
        of the variance for "laplacian", and is 1 for "chi2".
    degree : float, default=3
        The degree of the kernel "poly".
    coef0 : float, default=1
        The constant of the kernels "poly" and "sigmoid".
    kernel_params : dict, default=None
        Further arguments of the kernel; all arguments if it is a function.
    link_penalty : float, default=1.0
        How much a link of weight one counts beside a label of weight one.
    scale_penalty : bool, default=True
        Whether to reduce `link_penalty` where links outweigh labels, by the ratio of their summed weights. Without it
        many links shrink the scores of all linked rows towards zero.
    fit_intercept : bool, default=True
        Whether scores have a constant. It is regularized like the other coefficients, as in
        :class:`sklearn.svm.LinearSVC`. The source has none.
    class_weight : dict or "balanced", default=None
        The weights of the labels by class; "balanced" makes all classes count the same.
    n_init : int, default=1
        The number of starts of a non-convex fit: the solution of the labels alone, then random changes of it. The
        solution with the lowest objective is kept.
    approximation : {"auto", "exact", "nystroem"}, default="auto"
        Whether the solution is a combination of all distinct rows with labels or links, which is exact, or of a random
        sample. "auto" is "exact" up to 2,000 such rows unless `n_components` is given. Not used with a linear kernel.
    n_components : int, default=None
        The number of rows of the sample; 1,000 if None.
    tol : float, default=1e-3
        A fit ends when the duality gap, relative to the objective, is at most this; a non-convex one when the objective
        also falls by no more than this share.
    max_iter : int, default=5000
        The maximum number of passes over all labels and links for each class, and for each start of a non-convex fit.
    random_state : int, RandomState or None, default=None
        For the sample of rows and for random starts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes with a label, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The coefficients of the columns; only with a linear kernel.
    dual_coef_ : ndarray of shape (1, n_landmarks) or (n_classes, n_landmarks)
        The coefficients of the landmarks; only with other kernels.
    landmarks_ : ndarray of shape (n_landmarks,)
        The rows of the fit of which the solution is a combination; only with other kernels.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The constants of the scores.
    dual_gap_ : ndarray of shape (1,) or (n_classes,)
        The duality gap relative to the objective: how far from the optimum the solution is at most. With the
        non-convex loss, that of the last convex problem.
    link_penalty_ : float
        The penalty that was used.
    gamma_ : float
        The gamma that was used; missing for a linear, precomputed or callable kernel.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        The number of passes; of a non-convex fit those of the start that was kept.
    objective_ : list of float
        The objective after every fifth pass and after the last one; of a non-convex fit at the start and after every
        convex problem that lowered it. Of more than two classes the sum of all.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    See Also
    --------
    PairwiseLogisticRegression : The same with the logistic loss, and with probabilities.

    Notes
    -----
    With scores f, c = 1 for must-links and -1 for cannot-links, the weight w of a link and the penalty mu, the
    objective of two classes is::

        sum over labels max(0, 1 - y_i f_i) + mu * sum over links w * |f_i - c f_j| + |f|^2 / (2 C)

    It is solved in its dual, which has one variable between bounds for each label and each link, by coordinate ascent.
    The printed dual has the opposite signs on two terms and is not concave. Of more than two classes each is learned
    against all others, and a cannot-link then only forbids that both rows are of the class: max(0, 1 + f_i + f_j).

    The non-convex loss of a link is L''(f_i) + L''(c f_j) - L''(f_i + c f_j) - 1, where L''(z) is the hinge loss of
    both sides, max(2, 1 + abs(z)): 0 if both scores are on one side by at least 1, 1 as long as no score is beyond 1
    and their sum is neither, and larger if the sides differ. The source defines it, and has no algorithm for it. Here
    its concave part, - L'', is replaced by its tangent at the last solution, which leaves hinge losses of rows; they
    are minimized in their dual, and the objective never rises. Of more than two classes a cannot-link has the smaller
    of max(0, 1 + f_i) and max(0, 1 + f_j), as the printed term has no lower bound.

    Left out are other codes of more than two classes than one against all others (the source allows any code if there
    are only must-links), and an option to reject rows of which all scores are negative: compare
    ``decision_function(X).max(axis=1)`` with zero.

    Links never tell which class is which, so that at least two classes need labels. For probabilities, calibrate the
    fitted classifier, as a :class:`sklearn.frozen.FrozenEstimator`, on labeled rows that it did not learn from with
    :class:`sklearn.calibration.CalibratedClassifierCV`.

    References
    ----------
    R. Yan, J. Zhang, J. Yang and A. Hauptmann, "A discriminative learning framework with pairwise constraints for
    video object classification", IEEE Transactions on Pattern Analysis and Machine Intelligence 28(4), 2006; chapter
    17 of "Constrained Clustering", 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints, PairwiseSVC
    >>> from sklearn.datasets import make_moons
    >>> X, moon = make_moons(200, noise=0.1, random_state=0)
    >>> y = np.where(np.arange(200) < 6, moon, -1)
    >>> links = Constraints.sample(moon, n_pairs=60, random_state=0)
    >>> alone = PairwiseSVC().fit(X, y)
    >>> linked = PairwiseSVC().fit(X, y, constraints=links)
    >>> alone.score(X, moon), linked.score(X, moon)
    (0.735, 0.995)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BasePairwiseClassifier._parameter_constraints,
        "loss": [StrOptions({"convex", "nonconvex"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        loss: str = "convex",
        kernel: str | Callable[..., float] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        link_penalty: float = 1.0,
        scale_penalty: bool = True,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        n_init: int = 1,
        approximation: str = "auto",
        n_components: int | None = None,
        tol: float = 1e-3,
        max_iter: int = 5_000,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.link_penalty = link_penalty
        self.scale_penalty = scale_penalty
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.n_init = n_init
        self.approximation = approximation
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _solve(
        self, features: Any, rows: Indices, labels: Labels, problem: int, pairs: LinkedPairs, rng: Any
    ) -> tuple[Floats, float, list[float]]:
        if problem == 0:
            self.dual_gap_ = np.zeros(labels.n_problems)
        size = self._feature_size
        if self.fit_intercept:
            # A column that is one before the features were divided by their size.
            ones = np.full((features.shape[0], 1), 1 / size)
            stack = sparse.hstack if sparse.issparse(features) else np.hstack
            features = stack([features, ones])
        side = np.where(labels.is_positive(problem), 1.0, -1.0)
        place, scale = np.searchsorted(rows, labels.rows), self.C * size**2
        if self.loss == "nonconvex" and len(pairs.sign):
            hinges = np.zeros((len(rows), len(SIDES)))
            hinges[place, np.where(side > 0, 0, 1)] = labels.weight
            solution = self._best_of_starts(HingeObjective(features, hinges, HingeStates(pairs), scale), rng)
        else:
            dual = DualProblem.build(features, place, side, labels.weight, pairs, scale)
            found = ascend(dual, self.tol, self.max_iter)
            solution = HingeSolution(found.weights, found.history, found.gap, found.n_iter, found.gap <= self.tol)
        self.n_iter_[problem] = solution.n_iter
        self.dual_gap_[problem] = solution.gap
        self._warn_of_limit(solution.converged, solution.n_iter)
        if self.fit_intercept:
            return solution.weights[:-1], float(solution.weights[-1] / size), solution.history
        return solution.weights, 0.0, solution.history

    def _best_of_starts(self, objective: HingeObjective, rng: Any) -> HingeSolution:
        """Minimize the non-convex objective from the solution of the labels alone, and from random changes of it."""
        alone = DualProblem.of_hinges(objective.features, objective.label_hinges, SIDES, GAINS, objective.scale)
        first = ascend(alone, self.tol, self.max_iter).weights
        best: HingeSolution | None = None
        for place in range(self.n_init):
            start = first
            if place:
                start = first + rng.normal(scale=np.sqrt(np.mean(first**2)), size=len(first))
            found = objective.minimize(start, self.tol, self.max_iter)
            if best is None or found.history[-1] < best.history[-1]:
                best = found
        assert best is not None
        return best
