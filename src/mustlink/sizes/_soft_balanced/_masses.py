"""Responsibilities with equal masses: Sinkhorn scaling in logarithms, finished by Newton steps."""

from __future__ import annotations

import numpy as np

from mustlink._types import Floats

__all__ = ["balance_masses", "responsibilities_of"]

# Sinkhorn steps, each as costly as a look at all responsibilities, before Newton steps take over.
N_SCALINGS = 5
MAX_NEWTON_STEPS = 100
MAX_HALVINGS = 30
# By what a temperature is multiplied where the factors must be approached.
COOLING = 0.5


def responsibilities_of(log_density: Floats, log_beta: Floats, temperature: float) -> Floats:
    """Return P(y|x), in proportion to (beta_y p(x|y)) to the power of 1/temperature."""
    scores = (log_density + log_beta) / temperature
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def balance_masses(
    log_density: Floats, temperature: float, log_beta: Floats, *, tol: float = 1e-10
) -> tuple[Floats, Floats, float]:
    """Find the factors with which all components have the same expected mass.

    Parameters
    ----------
    log_density : ndarray of shape (n_rows, n_components)
        Logarithms of the densities.
    temperature : float
        The softness T.
    log_beta : ndarray of shape (n_components,)
        Logarithms of the factors to start from.
    tol : float, default=1e-10
        The largest difference of a mass from the mean mass, relative to the mean, at which to stop.

    Returns
    -------
    responsibilities : ndarray of shape (n_rows, n_components)
        Rows add up to one, columns to n_rows / n_components.
    log_beta : ndarray of shape (n_components,)
        Logarithms of the factors, with mean zero.
    error : float
        The largest difference of a mass from the mean mass, relative to the mean.

    Notes
    -----
    A scaling step is (8.18) of the chapter. The masses are the gradient of a concave function of the factors, whose
    second derivative is a matrix of the size of the components: where scaling is slow, which it is at low
    temperatures, Newton steps converge in a few passes over the rows.
    """
    found = _balance_at(log_density, temperature, log_beta, tol)
    if found[2] <= tol:
        return found
    # At a low temperature the start must be near: come from a high one, where any start is.
    warmer, beta = float(np.ptp(log_density, axis=1).max()), np.zeros(len(log_beta))
    while warmer > temperature:
        beta = _balance_at(log_density, warmer, beta, tol)[1]
        warmer *= COOLING
    slow = _balance_at(log_density, temperature, beta, tol)
    return slow if slow[2] < found[2] else found


def _balance_at(log_density: Floats, temperature: float, log_beta: Floats, tol: float) -> tuple[Floats, Floats, float]:
    """Balance the masses at one temperature from given factors."""
    target = len(log_density) / len(log_beta)
    power, b = log_density / temperature, log_beta / temperature
    for _ in range(N_SCALINGS):
        by_row = _log_sum(power + b, axis=1)
        scaled = np.log(target) - _log_sum(power - by_row, axis=0)[0]
        change, b = np.abs(scaled - b).max(), scaled
        if change <= tol:
            break
    b = _newton(power, b, target, tol)
    b -= b.mean()
    P = responsibilities_of(power, b, 1.0)
    return P, temperature * b, float(np.abs(P.sum(axis=0) / target - 1).max())


def _log_sum(logs: Floats, axis: int) -> Floats:
    """Return the logarithm of the sum of exponentials, with the axis kept; several times as fast as scipy's."""
    largest = logs.max(axis=axis, keepdims=True)
    return np.asarray(largest + np.log(np.exp(logs - largest).sum(axis=axis, keepdims=True)))


def _newton(power: Floats, b: Floats, target: float, tol: float) -> Floats:
    """Lower the distance of the masses to the target by damped Newton steps; return the new factors."""
    P = responsibilities_of(power, b, 1.0)
    for _ in range(MAX_NEWTON_STEPS):
        surplus = P.sum(axis=0) - target
        error = np.abs(surplus).max()
        if error <= tol * target:
            break
        curvature = np.diag(P.sum(axis=0)) - P.T @ P
        # The factors are defined up to a common one; hard responsibilities have no curvature at all.
        curvature[np.diag_indices(len(b))] += 1e-12 * target + 1e-3 * min(1.0, error / target) * curvature.diagonal()
        curvature += target / len(b)
        step = np.linalg.solve(curvature, surplus)
        for _ in range(MAX_HALVINGS):
            trial = responsibilities_of(power, b - step, 1.0)
            if np.abs(trial.sum(axis=0) - target).max() < error:
                break
            step *= 0.5
        else:
            break
        b, P = b - step, trial
    return b
