"""PairwiseLogisticRegression: kernel logistic regression from labels and links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_expit, logsumexp

from mustlink._sklearn_compat import Interval, StrOptions
from mustlink._types import Array, Floats, Indices
from mustlink.constraints import Constraints
from mustlink.errors import ConstraintError
from mustlink.pairwise._base import BasePairwiseClassifier
from mustlink.pairwise._labels import Labels
from mustlink.pairwise._solvers import Limits, Objective, Solution, minimize_by_em, minimize_smooth
from mustlink.pairwise._terms import ConvexTerm, LabelTerm, LinkedPairs, StatesTerm, Term


class PairwiseLogisticRegression(BasePairwiseClassifier):
    """Logistic regression from few labels and many links.

    Kernel logistic regression whose objective has a loss for every link: the scores of must-linked rows should be
    equal, those of cannot-linked rows opposite. Links may be between rows without labels. Without links it is logistic
    regression on the labels.

    Parameters
    ----------
    C : float, default=50.0
        The inverse of the regularization, as in :class:`sklearn.linear_model.LogisticRegression`. The lambda of the
        source is ``1 / (2 * C)``, and 50 is its value; with a small C links have little effect.
    loss : {"convex", "nonconvex"}, default="convex"
        The loss of links. "convex" has one optimum. "nonconvex" is minus the log probability that the link holds: it
        has local optima, is often better with two classes, and can be worse than the labels alone with more, as a
        must-link then most often makes both rows surer that they are not of a class.
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
    link_weight : {"factor", "probability"}, default="factor"
        What the weights of links are: a factor of their loss, or the probability, at most 1, that a link is right,
        which the loss "nonconvex" then allows for.
    fit_intercept : bool, default=True
        Whether scores have a constant, which is not regularized. The source has none.
    class_weight : dict or "balanced", default=None
        The weights of the labels by class; "balanced" makes all classes count the same.
    solver : {"lbfgs", "newton-cg", "em"}, default="lbfgs"
        "em" is for the non-convex loss alone: expected sides of linked rows, then a weighted regression. "newton-cg"
        is Newton's method in a trust region.
    n_init : int, default=1
        The number of starts of a non-convex fit: the solution of the labels alone, then random changes of it. The
        solution with the lowest objective is kept.
    approximation : {"auto", "exact", "nystroem"}, default="auto"
        Whether the solution is a combination of all distinct rows with labels or links, which is exact, or of a random
        sample. "auto" is "exact" up to 2,000 such rows unless `n_components` is given. Not used with a linear kernel.
    n_components : int, default=None
        The number of rows of the sample; 1,000 if None.
    tol : float, default=1e-5
        A fit ends when no derivative of the objective, divided by the weight of all labels and links, is larger.
    max_iter : int, default=1000
        The maximum number of iterations for each class; of rounds with "em".
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
    link_penalty_ : float
        The penalty that was used.
    gamma_ : float
        The gamma that was used; missing for a linear, precomputed or callable kernel.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        The number of iterations.
    objective_ : list of float
        The objective at the start and after every iteration; of more than two classes the sum of all.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has any.

    See Also
    --------
    PairwiseSVC : The same with the hinge loss.
    sklearn.semi_supervised.SelfTrainingClassifier : Uses rows without labels, and no links.

    Notes
    -----
    With scores f, the logistic loss L, c = 1 for must-links and -1 for cannot-links, the weight w of a link and the
    penalty mu, the objective of two classes is::

        sum over labels L(y_i f_i) + mu * sum over links w * L'(f_i, c f_j) + |f|^2 / (2 C)

    where the convex L'(a, b) = L(a - b) + L(b - a), and the non-convex one is -log(s(a) s(b) + s(-a) s(-b)) with s the
    logistic function. The source derives a non-convex loss of twice that from its properties, and uses this one. Of
    more than two classes each is learned against all others, and a cannot-link then only forbids that both rows are
    of the class: L(-f_i - f_j), or -log(1 - s(f_i) s(f_j)) instead of the printed term, which has no lower bound. The
    class with the largest score is predicted, which is what decoding by the losses gives.

    Left out are other codes of more than two classes than one against all others (the source allows any code if there
    are only must-links), and an option to reject rows of which all scores are negative: compare
    ``decision_function(X).max(axis=1)`` with zero.

    Links never tell which class is which, so that at least two classes need labels. The source expands over all
    labeled rows and both rows of every link; here equal rows are taken once. Probabilities of more than two classes
    are normalized to sum to one.

    References
    ----------
    R. Yan, J. Zhang, J. Yang and A. Hauptmann, "A discriminative learning framework with pairwise constraints for
    video object classification", IEEE Transactions on Pattern Analysis and Machine Intelligence 28(4), 2006; chapter
    17 of "Constrained Clustering", 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from mustlink import Constraints, PairwiseLogisticRegression
    >>> from sklearn.datasets import make_moons
    >>> X, moon = make_moons(200, noise=0.1, random_state=0)
    >>> y = np.where(np.arange(200) < 6, moon, -1)
    >>> links = Constraints.sample(moon, n_pairs=60, random_state=0)
    >>> alone = PairwiseLogisticRegression().fit(X, y)
    >>> linked = PairwiseLogisticRegression().fit(X, y, constraints=links)
    >>> alone.score(X, moon), linked.score(X, moon)
    (0.785, 1.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BasePairwiseClassifier._parameter_constraints,
        "loss": [StrOptions({"convex", "nonconvex"})],
        "link_weight": [StrOptions({"factor", "probability"})],
        "solver": [StrOptions({"lbfgs", "newton-cg", "em"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        C: float = 50.0,
        loss: str = "convex",
        kernel: str | Callable[..., float] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        link_penalty: float = 1.0,
        scale_penalty: bool = True,
        link_weight: str = "factor",
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str = "lbfgs",
        n_init: int = 1,
        approximation: str = "auto",
        n_components: int | None = None,
        tol: float = 1e-5,
        max_iter: int = 1000,
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
        self.link_weight = link_weight
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.n_init = n_init
        self.approximation = approximation
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _weighted_pairs(self, links: Constraints, rows: Indices, labels: Labels) -> LinkedPairs:
        self._confidence = None
        if self.loss == "convex" and self.solver == "em":
            raise ValueError('solver="em" is for loss="nonconvex"; use "lbfgs" or "newton-cg" with loss="convex".')
        if self.link_weight == "probability":
            self._confidence = read_confidence(links, self.loss)
            # Every link counts the same; its probability is part of its loss.
            links = Constraints(links.must_link, links.cannot_link)
        return super()._weighted_pairs(links, rows, labels)

    def _solve(
        self, features: Any, rows: Indices, labels: Labels, problem: int, pairs: LinkedPairs, rng: Any
    ) -> tuple[Floats, float, list[float]]:
        label_term = sided_labels(rows, labels, problem)
        total = float(labels.weight.sum() + pairs.weight.sum())
        limits = Limits(self.tol, self.max_iter, total)
        link_terms: list[Term] = []
        if len(pairs.sign):
            link_terms = [ConvexTerm(pairs) if self.loss == "convex" else StatesTerm(pairs, self._confidence)]
        objective = Objective(
            features, [label_term, *link_terms], 1 / (2 * self.C * self._feature_size**2), self.fit_intercept
        )
        if self.loss == "convex" or not link_terms:
            solver = "lbfgs" if self.solver == "em" else self.solver
            solution = minimize_smooth(objective, np.zeros(objective.n_parameters), limits, solver)
        else:
            solution = self._best_of_starts(objective, label_term, limits, rng)
        self.n_iter_[problem] = solution.n_iter
        self._warn_of_limit(solution.converged, solution.n_iter)
        parameters = solution.parameters
        if self.fit_intercept:
            return parameters[:-1], float(parameters[-1]), solution.history
        return parameters, 0.0, solution.history

    def _best_of_starts(self, objective: Objective, label_term: LabelTerm, limits: Limits, rng: Any) -> Solution:
        """Minimize the non-convex objective from the solution of the labels alone, and from random changes of it."""
        alone = Objective(objective.features, [label_term], objective.ridge, objective.fit_intercept)
        first = minimize_smooth(alone, np.zeros(alone.n_parameters), limits, "lbfgs").parameters
        best: Solution | None = None
        for place in range(self.n_init):
            start = first
            if place:
                start = first + rng.normal(scale=np.sqrt(np.mean(first**2)), size=len(first))
            if self.solver == "em":
                found = minimize_by_em(objective, start, limits)
            else:
                found = minimize_smooth(objective, start, limits, self.solver)
            if best is None or found.history[-1] < best.history[-1]:
                best = found
        assert best is not None
        return best

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; with ``kernel="precomputed"`` their kernel with the rows of the fit.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The columns are in the order of ``classes_``.
        """
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict_log_proba(self, X: Any) -> Array:
        """Return the log of the probability of every class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; with ``kernel="precomputed"`` their kernel with the rows of the fit.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The columns are in the order of ``classes_``.
        """
        # In double precision, in which probabilities next to one still differ from it.
        scores = self.decision_function(X).astype(np.float64)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        # By logs, as all classes may have a probability next to zero by themselves.
        logs = log_expit(scores)
        return np.asarray(logs - logsumexp(logs, axis=1, keepdims=True))


def sided_labels(rows: Indices, labels: Labels, problem: int) -> LabelTerm:
    """Return the weights of all rows on the positive and on the negative side of a problem."""
    place = np.searchsorted(rows, labels.rows)
    positive, negative = np.zeros(len(rows)), np.zeros(len(rows))
    is_positive = labels.is_positive(problem)
    positive[place[is_positive]] = labels.weight[is_positive]
    negative[place[~is_positive]] = labels.weight[~is_positive]
    return LabelTerm(positive, negative)


def read_confidence(links: Constraints, loss: str) -> Floats:
    """Return the weights of links as probabilities."""
    if loss == "convex":
        raise ValueError('link_weight="probability" is for loss="nonconvex"; the convex loss takes weights as factors.')
    weight: Floats = links.weight
    if weight.max(initial=0.0) > 1:
        place = int(weight.argmax())
        first, second = links.pairs[place].tolist()
        raise ConstraintError(
            f'With link_weight="probability" the weight of a link is at most 1, but that of the rows {first} and '
            f"{second} is {weight[place]:g} (a link that was given twice has the sum of its weights).",
            [(first, second)],
        )
    return weight
