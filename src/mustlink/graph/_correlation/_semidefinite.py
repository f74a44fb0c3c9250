"""The semidefinite relaxations of agreement and of correlation, and clusterings from random hyperplanes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, vstack

from mustlink._types import Floats, Indices
from mustlink.errors import OptionError
from mustlink.graph._correlation._linear_program import SmallProblem

# Two hyperplanes with this probability, else three: at least 0.7664 of the agreement of the relaxation in expectation.
# With 0.868 it is 0.76638.
TWO_PLANES = 0.8684


def solve_semidefinite(problem: SmallProblem, *, nonnegative: bool) -> tuple[Floats, float]:
    """Return unit vectors of the nodes, whose products sum up to the largest net weight, and that weight.

    With `nonnegative`, no product is negative, and products of nodes that are kept apart are zero: the weight is
    then a bound on the gain of every clustering. It is infinite if the solver did not converge.
    """
    clarabel = _load_solver()
    n_nodes = problem.n_nodes
    first, second = np.triu_indices(n_nodes, 1)
    if nonnegative:
        free = ~problem.apart[first, second]
        first, second = first[free], second[free]
    n_free = len(first)
    # The upper triangle, column by column, with off-diagonal entries times the root of two.
    place = second * (second + 1) // 2 + first
    n_triangle = n_nodes * (n_nodes + 1) // 2
    triangle = csc_matrix((np.full(n_free, -np.sqrt(2.0)), (place, np.arange(n_free))), shape=(n_triangle, n_free))
    diagonal = np.arange(n_nodes)
    identity = np.zeros(n_triangle)
    identity[diagonal * (diagonal + 3) // 2] = 1.0
    rows, right, cones = [triangle], [identity], [clarabel.PSDTriangleConeT(n_nodes)]
    if nonnegative:
        rows.insert(0, csc_matrix((np.full(n_free, -1.0), (np.arange(n_free), np.arange(n_free)))))
        right.insert(0, np.zeros(n_free))
        cones.insert(0, clarabel.NonnegativeConeT(n_free))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        csc_matrix((n_free, n_free)),
        -problem.net[first, second],
        vstack(rows).tocsc(),
        np.concatenate(right),
        cones,
        settings,
    )
    found = solver.solve()
    gram = np.eye(n_nodes)
    gram[first, second] = gram[second, first] = np.asarray(found.x)
    values, vectors = np.linalg.eigh(gram)
    units = vectors * np.sqrt(values.clip(min=0.0))
    bound = -found.obj_val_dual if found.status == clarabel.SolverStatus.Solved else np.inf
    return units / np.linalg.norm(units, axis=1, keepdims=True), float(bound)


def round_by_hyperplanes(units: Floats, random_state: np.random.RandomState, n_planes: int | None = None) -> Indices:
    """Cluster nodes by the sides of random hyperplanes that they are on: two, or sometimes three."""
    if n_planes is None:
        n_planes = 2 if random_state.uniform() < TWO_PLANES else 3
    sides = units @ random_state.normal(size=(units.shape[1], n_planes)) > 0
    return np.asarray(sides @ (1 << np.arange(n_planes)), dtype=np.intp)


def round_to_two(units: Floats, random_state: np.random.RandomState) -> Indices:
    """Make two clusters of projections on a random direction: far ones by their sign, near ones with a probability."""
    n_nodes = len(units)
    scale = np.sqrt(4 * np.log(max(n_nodes, 2)))
    projected = units @ random_state.normal(size=units.shape[1]) / scale
    return (random_state.uniform(size=n_nodes) < (1 + projected) / 2).astype(np.intp)


def _load_solver() -> Any:
    """Import the solver, or say how to install it."""
    try:
        import clarabel
    except ImportError:
        raise OptionError(
            'method="sdp" needs the solver clarabel, which is not installed', remedy="install_extra", extra="sdp"
        ) from None
    return clarabel
