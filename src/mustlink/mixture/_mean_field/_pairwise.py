"""Mean field for the clustering of dissimilarities, with deterministic annealing and links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse.linalg import eigsh

from mustlink._types import Array, Floats
from mustlink.mixture._mean_field._embedding import squared_form
from mustlink.mixture._mean_field._linked_rows import LinkedRows

__all__ = [
    "PairwiseRun",
    "anneal",
    "check_dissimilarities",
    "pairwise_potentials",
    "partition_cost",
    "temperatures",
]

# The temperature begins above the critical one, where all rows are in all clusters alike, and ends far below it.
FIRST_OVER_CRITICAL = 1.2
LAST_OVER_CRITICAL = 1e-3
# The runs end earlier if every row is so near to one cluster.
MAX_DOUBT = 1e-3
# Noise of the probabilities at every temperature, which lets clusters part that coincide.
NOISE = 1e-3
# Shares are stable when none changes by more.
TOLERANCE = 1e-4
# Updates of all rows at once can alternate between two states; from this step on, they go half of the way.
UNDAMPED_STEPS = 10


@dataclass(eq=False)
class PairwiseRun:
    """An annealing run.

    Parameters
    ----------
    responsibilities : ndarray of shape (n_samples, n_clusters)
        The probability of every cluster for every row.
    objective : list of float
        Minus the energy, the partition cost over the last temperature plus the penalties of broken links, at every
        temperature.
    converged : bool, default=False
        Whether the probabilities were stable at the last temperature.
    """

    responsibilities: Floats
    objective: list[float] = field(default_factory=list)
    converged: bool = False


def check_dissimilarities(dissimilarities: Array) -> None:
    """Refuse an array that is not square and symmetric with zeros on the diagonal."""
    where = 'With metric="precomputed" X must hold the dissimilarity of every pair of rows'
    if dissimilarities.shape[0] != dissimilarities.shape[1]:
        raise ValueError(f"{where} and be square; its shape is {dissimilarities.shape}.")
    scale = float(np.abs(dissimilarities).max(initial=0.0))
    differs = np.abs(dissimilarities - dissimilarities.T) > 1e-8 * scale
    if differs.any():
        i, j = np.argwhere(differs)[0]
        a, b = dissimilarities[i, j], dissimilarities[j, i]
        raise ValueError(f"{where} and be symmetric, but rows {i} and {j} have {a:g} one way and {b:g} the other.")
    if (np.abs(dissimilarities.diagonal()) > 1e-8 * scale).any():
        row = int(np.argmax(np.abs(dissimilarities.diagonal())))
        raise ValueError(f"{where}, and 0 for a row with itself; row {row} has {dissimilarities[row, row]:g}.")


def pairwise_potentials(dissimilarities: Array, shares: Floats) -> Floats:
    """Return minus what it adds to the cost that each row is in each cluster, given the shares of the other rows.

    With the mass m of the others in a cluster, a their dissimilarities to the row and w those among them, this is
    (a - w / (2 m)) / (m + 1), and 0 for an empty cluster. The printed formula lacks a part of the divisor; for hard
    shares this one is the exact change of the cost.
    """
    mass = shares.sum(axis=0) - shares
    to_others = np.asarray(dissimilarities @ shares)
    among = (shares * to_others).sum(axis=0) - 2 * shares * to_others
    inner = np.divide(among, 2 * mass, out=np.zeros_like(among), where=mass > 0)
    # What rounding leaves of an empty cluster is no cost.
    return np.where(mass > np.finfo(np.float64).eps, -(to_others - inner) / (mass + 1), 0.0)


def partition_cost(dissimilarities: Array, shares: Floats) -> float:
    """Return half the sum over clusters of the mean dissimilarity to its rows, H_pw of the chapter."""
    within = (shares * (dissimilarities @ shares)).sum(axis=0)
    mass = shares.sum(axis=0)
    return float(np.divide(within, 2 * mass, out=np.zeros_like(within), where=mass > 0).sum())


def temperatures(dissimilarities: Array, factor: float) -> Iterator[float]:
    """Yield falling temperatures, from above the critical one, at which the first split appears."""
    form = squared_form(dissimilarities)
    n_samples = len(form)
    largest = eigsh(form, k=1, which="LA", v0=np.ones(n_samples) + np.arange(n_samples) / n_samples)[0][0]
    critical = 2 * max(float(largest), np.finfo(np.float64).tiny) / n_samples
    temperature = FIRST_OVER_CRITICAL * critical
    while temperature > LAST_OVER_CRITICAL * critical:
        yield temperature
        temperature /= factor


def anneal(
    dissimilarities: Array,
    linked: LinkedRows,
    n_clusters: int,
    schedule: list[float],
    *,
    max_iter: int,
    rng: np.random.RandomState,
) -> PairwiseRun:
    """Cool down from equal shares, and iterate at each temperature until the shares are stable."""
    n_samples = len(dissimilarities)
    run = PairwiseRun(np.full((n_samples, n_clusters), 1 / n_clusters))
    for temperature in schedule:
        noise = 1 + NOISE * rng.standard_normal(run.responsibilities.shape)
        shares = run.responsibilities * noise
        shares /= shares.sum(axis=1)[:, None]
        run.responsibilities, run.converged = _settle(dissimilarities, linked, shares, temperature, max_iter)
        run.objective.append(-_energy(dissimilarities, linked, run.responsibilities, schedule[-1]))
        if run.responsibilities.max(axis=1).min() > 1 - MAX_DOUBT:
            break
    return run


def _settle(
    dissimilarities: Array, linked: LinkedRows, shares: Floats, temperature: float, max_iter: int
) -> tuple[Floats, bool]:
    """Iterate the mean-field equations at one temperature; return the shares, and whether they became stable."""
    for step in range(max_iter):
        updated = linked.infer(pairwise_potentials(dissimilarities, shares) / temperature, shares)[0]
        change = float(np.abs(updated - shares).max())
        shares = updated if step < UNDAMPED_STEPS else (updated + shares) / 2
        if change < TOLERANCE:
            return shares, True
    return shares, False


def _energy(dissimilarities: Array, linked: LinkedRows, shares: Floats, temperature: float) -> float:
    """Return the cost of the nearest partition over the temperature, plus the penalties of the links it breaks."""
    hard = np.eye(shares.shape[1])[shares.argmax(axis=1)]
    return partition_cost(dissimilarities, hard) / temperature + linked.broken_penalty(hard.argmax(axis=1))
