"""Classifiers from few labels and many links, beside the same objective by scipy and classifiers of labels alone.

All fit the same rows in one process, after a small fit that excludes compilation: ``python -m benchmarks.pairwise``;
with ``--quick`` on a tenth of the rows. The plain version holds the features of each label and the difference of those
of each link, as in the formulas of the chapter, and minimizes the same objective; its landmarks are other rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks._measure import measure
from benchmarks._show import new_table, show

N_ROWS, N_LINKS, N_LABELS, N_NEW = 10_000, 5_000, 100, 5_000
C = 50.0


def main() -> None:
    divisor = 10 if "--quick" in sys.argv else 1
    n_rows, n_links = N_ROWS // divisor, N_LINKS // divisor
    for n_classes in (2, 5):
        title = f"{n_rows:,} rows, {n_classes} classes, {N_LABELS} labels, {n_links:,} links; target: 30 s"
        table = new_table(title, "classifier", "seconds", "times ours", "MB above", "accuracy", "objective")
        problem, small = make_problem(n_rows, n_links, n_classes), make_problem(300, 100, n_classes)
        ours: dict[str, float] = {}
        for name, (kind, fit) in CONTENDERS.items():
            if n_classes > 2 and name.startswith("plain"):
                continue
            fit(small)
            seconds, megabytes, (accuracy, objective) = measure(partial(fit, problem))
            ours.setdefault(kind, seconds)
            ratio, value = f"{seconds / ours[kind]:.2f}", "" if np.isnan(objective) else f"{objective:.4f}"
            table.add_row(name, f"{seconds:.2f}", ratio, f"{megabytes:.0f}", f"{accuracy:.3f}", value)
        show(table)


def make_problem(n_rows: int, n_links: int, n_classes: int) -> dict[str, Any]:
    """Return rows, partial labels, links, and new rows with their classes."""
    from sklearn.datasets import make_classification
    from sklearn.preprocessing import StandardScaler

    from mustlink import Constraints

    X, classes = make_classification(
        n_rows + N_NEW, 20, n_informative=8, n_redundant=2, n_classes=n_classes, random_state=0
    )
    X = StandardScaler().fit_transform(X)
    y = np.where(np.arange(n_rows) < N_LABELS, classes[:n_rows], -1)
    links = Constraints.sample(classes[:n_rows], n_pairs=n_links, random_state=0)
    return {"X": X[:n_rows], "y": y, "links": links, "new": X[n_rows:], "truth": classes[n_rows:]}


def fit_ours(name: str, problem: dict[str, Any], **options: Any) -> tuple[float, float]:
    """Fit one of our classifiers with links."""
    import mustlink

    model = getattr(mustlink, name)(random_state=0, **options)
    model.fit(problem["X"], problem["y"], constraints=problem["links"])
    return model.score(problem["new"], problem["truth"]), model.objective_[-1]


def fit_plain(kernel: str, problem: dict[str, Any]) -> tuple[float, float]:
    """Minimize the convex objective of two classes by scipy, with the features of each label and each link."""
    from scipy.optimize import minimize
    from scipy.special import expit

    from mustlink import PairwiseLogisticRegression

    features, new = problem["X"], problem["new"]
    if kernel == "rbf":
        features, new = landmark_features(problem)
    links, known = problem["links"], np.flatnonzero(problem["y"] >= 0)
    side = 2.0 * problem["y"][known] - 1
    penalty = min(1.0, len(known) / len(links))
    labeled = np.column_stack([features[known], np.ones(len(known))]) * side[:, None]
    first, second, sign = *links.pairs.T, links.sign[:, None].astype(float)
    linked = np.column_stack([features[first] - sign * features[second], 1 - sign])

    def fun(w: Any) -> tuple[float, Any]:
        a, b = labeled @ w, linked @ w
        value = np.logaddexp(0, -a).sum() + penalty * (np.logaddexp(0, b) + np.logaddexp(0, -b)).sum()
        gradient = -labeled.T @ expit(-a) + penalty * linked.T @ (2 * expit(b) - 1)
        gradient[:-1] += w[:-1] / C
        return value + w[:-1] @ w[:-1] / (2 * C), gradient

    unit = len(known) + penalty * len(links)
    options = {"gtol": PairwiseLogisticRegression().tol * unit, "maxiter": 5_000, "ftol": 0.0}
    found = minimize(fun, np.zeros(labeled.shape[1]), jac=True, method="L-BFGS-B", options=options)
    predicted = (new @ found.x[:-1] + found.x[-1] > 0).astype(int)
    return float(np.mean(predicted == problem["truth"])), float(found.fun)


def landmark_features(problem: dict[str, Any]) -> tuple[Any, Any]:
    """Return Nystroem features of all rows and of the new ones, with as many landmarks as ours."""
    from sklearn.kernel_approximation import Nystroem

    X = problem["X"]
    n_components = min(1_000, len(X))
    nystroem = Nystroem(gamma=1 / (X.shape[1] * X.var()), n_components=n_components, random_state=0).fit(X)
    return nystroem.transform(X), nystroem.transform(problem["new"])


def fit_labels(
    make: Callable[[], Any], problem: dict[str, Any], *, with_unlabeled: bool = False
) -> tuple[float, float]:
    """Fit a classifier of scikit-learn to the labels alone, or with rows without labels."""
    known = np.arange(len(problem["y"])) if with_unlabeled else np.flatnonzero(problem["y"] >= 0)
    model = make().fit(problem["X"][known], problem["y"][known])
    return float(model.score(problem["new"], problem["truth"])), float("nan")


def logistic_regression() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=C)


def support_vectors() -> Any:
    from sklearn.svm import SVC

    return SVC()


def self_training() -> Any:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.semi_supervised import SelfTrainingClassifier
    from sklearn.svm import SVC

    return SelfTrainingClassifier(CalibratedClassifierCV(SVC(), ensemble=False))


REGRESSION = partial(fit_ours, "PairwiseLogisticRegression")
CONTENDERS: dict[str, tuple[str, Any]] = {
    "PairwiseLogisticRegression": ("rbf", REGRESSION),
    "plain, Nystroem and scipy": ("rbf", partial(fit_plain, "rbf")),
    "PairwiseLogisticRegression, newton-cg": ("rbf", partial(REGRESSION, solver="newton-cg")),
    "PairwiseLogisticRegression, nonconvex": ("rbf", partial(REGRESSION, loss="nonconvex")),
    "PairwiseLogisticRegression, nonconvex, EM": ("rbf", partial(REGRESSION, loss="nonconvex", solver="em")),
    "PairwiseSVC": ("rbf", partial(fit_ours, "PairwiseSVC")),
    "PairwiseLogisticRegression, linear": ("linear", partial(REGRESSION, kernel="linear")),
    "plain, linear, scipy": ("linear", partial(fit_plain, "linear")),
    "PairwiseSVC, linear": ("linear", partial(fit_ours, "PairwiseSVC", kernel="linear")),
    "LogisticRegression, labels alone": ("linear", partial(fit_labels, logistic_regression)),
    "SVC, labels alone": ("rbf", partial(fit_labels, support_vectors)),
    "SelfTrainingClassifier, SVC": ("rbf", partial(fit_labels, self_training, with_unlabeled=True)),
}

if __name__ == "__main__":
    main()
