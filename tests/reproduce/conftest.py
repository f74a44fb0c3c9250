"""A protocol of two data sets and three methods that takes no time."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

from mustlink.constraints import Constraints
from mustlink.reproduce.engine._claims import Claim, Verdict
from mustlink.reproduce.engine._figures import Figure, LineStyle, curve_panels
from mustlink.reproduce.engine._methods import Labeling
from mustlink.reproduce.engine._problem import DataSet, Problem
from mustlink.reproduce.engine._protocol import Part, Protocol, RunPlan
from mustlink.reproduce.engine._results import Run
from mustlink.reproduce.engine._tables import score_table

matplotlib.use("Agg")

TITLES = {"iris": "Iris", "wine": "Wine"}


def truth(problem: Problem) -> Labeling:
    """Labels that are right."""
    return Labeling(problem.y, {"objective": [3.0, 2.0, 1.0]})


def chance(problem: Problem) -> Labeling:
    """Labels drawn at random from the seed of the run."""
    return Labeling(np.random.RandomState(problem.seed).randint(problem.n_clusters, size=len(problem.y)))


def refusal(problem: Problem) -> Labeling:
    """A method that fails with many links."""
    if len(problem.links) > 10:
        raise RuntimeError("too many links")
    return Labeling(problem.y)


METHODS = {"truth": truth, "chance": chance, "refusal": refusal}


def draw(y: np.ndarray, run: Run) -> Constraints:
    return Constraints.sample(y, n_pairs=int(run.amount), random_state=run.problem_seed)


def runs(plan: RunPlan) -> list[Run]:
    return [
        Run("toy", dataset, method, amount, trial)
        for dataset in plan.datasets
        for trial in range(plan.trials)
        for method in METHODS
        for amount in plan.amounts
    ]


@pytest.fixture
def toy() -> Protocol:
    return Protocol(
        name="toy",
        title="A toy",
        source="Nobody, Nowhere.",
        intro="Three methods.",
        datasets=tuple(DataSet(name, title) for name, title in TITLES.items()),
        methods=METHODS,
        draw=draw,
        parts=(
            Part(
                "1",
                runs,
                lambda results: [
                    score_table(
                        results,
                        "scores",
                        "Toy scores",
                        "nmi",
                        datasets=TITLES,
                        methods=METHODS,
                    )
                ],
                lambda results: [
                    Figure(
                        "figure1",
                        "Figure 1: a toy.",
                        lambda: curve_panels(
                            results,
                            "nmi",
                            TITLES,
                            {"truth": LineStyle(0), "chance": LineStyle(1, "--")},
                            axis_titles=("links", "NMI"),
                        ),
                    )
                ],
                (
                    Claim(
                        "T1",
                        "Truth is better than chance.",
                        lambda results: Verdict(
                            results.mean("nmi", method="truth") > results.mean("nmi", method="chance"), "It is."
                        ),
                    ),
                ),
            ),
            Part("2", lambda plan: runs(plan)[:1]),
        ),
        quick=RunPlan(("iris", "wine"), (5, 20), trials=2),
        full=RunPlan(("iris", "wine"), (5, 20), trials=4),
    )
