"""Boost Base Clustering the slow way: loops over pairs, and the sum of the rounds as a full matrix."""

from __future__ import annotations

import numpy as np


def objective(A, X, pairs, signs, weights):
    """F(A): the sum over the pairs of weight * sign * similarity."""
    total = 0.0
    for (i, j), sign, weight in zip(pairs, signs, weights, strict=True):
        difference = X[i] - X[j]
        total += weight * sign * -(difference @ A @ difference)
    return total


def gradient(X, pairs, signs, weights):
    """The gradient of F, difference by difference."""
    G = np.zeros((X.shape[1], X.shape[1]))
    for (i, j), sign, weight in zip(pairs, signs, weights, strict=True):
        difference = X[i] - X[j]
        G -= sign * weight * np.outer(difference, difference)
    return G


def project(B):
    """The positive part of a symmetric matrix."""
    values, vectors = np.linalg.eigh(B)
    P = np.zeros_like(B)
    for value, vector in zip(values, vectors.T, strict=True):
        if value > 0:
            P += value * np.outer(vector, vector)
    return P


def root(A):
    """The symmetric square root."""
    values, vectors = np.linalg.eigh(A)
    return vectors @ np.diag(np.sqrt(np.maximum(values, 0))) @ vectors.T


def comembership(labels):
    """+1 for rows together, -1 for rows apart; noise is apart from everything but itself."""
    n = len(labels)
    Y = -np.ones((n, n))
    for i in range(n):
        for j in range(n):
            if i == j or (labels[i] == labels[j] and labels[i] != -1):
                Y[i, j] = 1.0
    return Y


def dense_sum(codes, weights):
    """Y: the weighted sum of the co-memberships of the rounds."""
    return sum(weight * comembership(code) for weight, code in zip(weights, codes.T, strict=True))


def components(Y):
    """Connected components of Y > 0 by depth-first search, numbered by their first rows."""
    n = len(Y)
    label = np.full(n, -1)
    found = 0
    for start in range(n):
        if label[start] >= 0:
            continue
        stack = [start]
        label[start] = found
        while stack:
            i = stack.pop()
            for j in range(n):
                if label[j] < 0 and Y[i, j] > 1e-9:
                    label[j] = found
                    stack.append(j)
        found += 1
    return label


def normalized_laplacian(Y):
    """I - D^-1/2 W D^-1/2 of W = Y - min Y."""
    W = Y - Y.min()
    degree = W.sum(axis=1)
    return np.eye(len(Y)) - W / np.sqrt(np.outer(degree, degree))


def supervise(X, pairs, signs, base, *, n_rounds, step, max_inner, max_stalls):
    """Return A, the alphas, the errors, Y and the number of stalls of a base that needs no seed."""
    n, d = X.shape
    m = len(pairs)
    A = np.eye(d)
    weights = np.full(m, 1 / m)
    Y = np.zeros((n, n))
    alphas, errors = [], []
    stalls = in_a_row = 0
    for _ in range(n_rounds):
        for _ in range(max_inner):
            G = gradient(X, pairs, signs, weights)
            A = project(A / np.linalg.norm(A) + step * G / np.linalg.norm(G))
            A *= np.sqrt(d) / np.linalg.norm(A)
            Yt = comembership(base(X @ root(A)))
            wrong = np.array([Yt[i, j] != sign for (i, j), sign in zip(pairs, signs, strict=True)])
            error = weights[wrong].sum()
            if error < 0.5 - 1e-10:
                break
        if error >= 0.5 - 1e-10:
            stalls += 1
            in_a_row += 1
            weights = np.full(m, 1 / m)
            if in_a_row == max_stalls:
                break
            continue
        in_a_row = 0
        clipped = max(error, 0.5 / m)
        alpha = 0.5 * np.log((1 - clipped) / clipped)
        weights = weights * np.exp(np.where(wrong, alpha, -alpha))
        weights /= weights.sum()
        Y += alpha * Yt
        alphas.append(alpha)
        errors.append(error)
    return A, np.array(alphas), np.array(errors), Y, stalls
