"""Compiled passes over a table of codes.

A code is the labels of one row in all rounds. Label l of round t is column ``offsets[t] + l`` of the one-hot table that
is never built; a label of -1 is noise and has no column.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit


@jit
def mark_labels(column: Any, present: Any) -> None:
    """Mark the labels of a column as present; noise, -1, is the last entry."""
    for i in range(len(column)):
        present[column[i]] = True


@jit
def count_together(codes: Any, offsets: Any, row_weight: Any) -> Any:
    """Sum the weight of the rows that are in column a and in column b, for all a and b."""
    n_rows, n_rounds = codes.shape
    n_columns = offsets[n_rounds]
    counts = np.zeros((n_columns, n_columns))
    columns = np.empty(n_rounds, np.int64)
    for i in range(n_rows):
        n_seen = find_columns(codes[i], offsets, columns)
        for s in range(n_seen):
            for t in range(s + 1):
                counts[columns[s], columns[t]] += row_weight[i]
    for a in range(n_columns):
        for b in range(a):
            counts[b, a] = counts[a, b]
    return counts


@jit
def sum_table_rows(codes: Any, offsets: Any, table: Any) -> Any:
    """Return for every row the sum of the table rows of its columns."""
    n_rows, n_rounds = codes.shape
    sums = np.zeros((n_rows, table.shape[1]))
    columns = np.empty(n_rounds, np.int64)
    for i in range(n_rows):
        n_seen = find_columns(codes[i], offsets, columns)
        add_table_rows(table, columns, n_seen, sums[i])
    return sums


@jit
def find_columns(code: Any, offsets: Any, columns: Any) -> int:
    """Write the columns of a code into `columns`; return their number."""
    # Noise is rare: without a branch in the loop, several labels are looked up at a time.
    all_bits = 0
    for t in range(len(code)):
        columns[t] = offsets[t] + code[t]
        all_bits |= code[t]
    if all_bits >= 0:
        return len(code)
    n_seen = 0
    for t in range(len(code)):
        if code[t] >= 0:
            columns[n_seen] = offsets[t] + code[t]
            n_seen += 1
    return n_seen


@jit
def add_table_rows(table: Any, columns: Any, n_seen: int, sums: Any) -> None:
    """Add the rows of the table at the first `n_seen` columns to `sums`."""
    width = table.shape[1]
    # Four rows of the table at a time, to load and store the sums a quarter as often.
    whole = n_seen - n_seen % 4
    for t in range(0, whole, 4):
        p, q, r, s = columns[t], columns[t + 1], columns[t + 2], columns[t + 3]
        for c in range(width):
            sums[c] += (table[p, c] + table[q, c]) + (table[r, c] + table[s, c])
    for t in range(whole, n_seen):
        p = columns[t]
        for c in range(width):
            sums[c] += table[p, c]


@jit
def add_to_columns(codes: Any, offsets: Any, values: Any) -> Any:
    """Return for every column the sum of the values of its rows."""
    n_rows, n_rounds = codes.shape
    width = values.shape[1]
    table = np.zeros((offsets[n_rounds], width))
    for i in range(n_rows):
        for t in range(n_rounds):
            if codes[i, t] >= 0:
                column = offsets[t] + codes[i, t]
                for c in range(width):
                    table[column, c] += values[i, c]
    return table


@jit
def cluster_masses(codes: Any, offsets: Any, labels: Any, row_weight: Any, n_clusters: int) -> Any:
    """Sum the weight of the rows of each column that each cluster holds; a label of -1 is in no cluster."""
    n_rows, n_rounds = codes.shape
    table = np.zeros((offsets[n_rounds], n_clusters))
    for i in range(n_rows):
        label = labels[i]
        if label >= 0:
            for t in range(n_rounds):
                if codes[i, t] >= 0:
                    table[offsets[t] + codes[i, t], label] += row_weight[i]
    return table


@jit
def nearest_two(codes: Any, offsets: Any, table: Any, lengths: Any, own: Any, labels: Any) -> Any:
    """Move every row to its nearest center, in place; return two arrays of squared distances.

    The first is the distance to that center minus the row's own squared length, the second by how much the next center
    is farther. `table` holds the weighted centers, one column per cluster, and `lengths` their squared lengths. `own`
    is what a row's noise rounds have in common with the center of the cluster it is in, if the label is not -1.
    """
    n_rows, n_rounds = codes.shape
    n_clusters = table.shape[1]
    least = np.empty(n_rows)
    margin = np.empty(n_rows)
    products = np.empty(n_clusters)
    columns = np.empty(n_rounds, np.int64)
    for i in range(n_rows):
        n_seen = find_columns(codes[i], offsets, columns)
        products[:] = 0.0
        add_table_rows(table, columns, n_seen, products)
        if labels[i] >= 0:
            products[labels[i]] += own[i]
        best = 0
        lowest, second = np.inf, np.inf
        for c in range(n_clusters):
            value = lengths[c] - 2.0 * products[c]
            # Without branches, which cannot be predicted for rows between clusters.
            second = min(second, max(value, lowest))
            best = c if value < lowest else best
            lowest = min(value, lowest)
        labels[i] = best
        least[i] = lowest
        margin[i] = second - lowest
    return least, margin


@jit
def connect_codes(codes: Any, weights: Any, threshold: float) -> Any:
    """Number the connected components of the graph in which K_ij > threshold joins two rows.

    `weights` must be in descending order, which decides most pairs after few rounds. A row is compared
    with those that no component has reached yet, which are soon few if components are large.
    """
    n_rows, n_rounds = codes.shape
    left_over = np.zeros(n_rounds + 1)
    for t in range(n_rounds - 1, -1, -1):
        left_over[t] = left_over[t + 1] + weights[t]
    component = np.full(n_rows, -1, np.int64)
    unreached = np.arange(n_rows)
    n_unreached = n_rows
    queue = np.empty(n_rows, np.int64)
    n_components = 0
    for start in range(n_rows):
        if component[start] >= 0:
            continue
        component[start] = n_components
        queue[0] = start
        head, tail = 0, 1
        while head < tail:
            row = queue[head]
            head += 1
            kept = 0
            for u in range(n_unreached):
                other = unreached[u]
                if component[other] >= 0:
                    continue
                total = 0.0
                for t in range(n_rounds):
                    if codes[row, t] == codes[other, t] and codes[row, t] >= 0:
                        total += weights[t]
                    if total > threshold or total + left_over[t + 1] <= threshold:
                        break
                if total > threshold:
                    component[other] = n_components
                    queue[tail] = other
                    tail += 1
                else:
                    unreached[kept] = other
                    kept += 1
            n_unreached = kept
        n_components += 1
    return component


@jit
def min_in_common(codes: Any, weights: Any) -> float:
    """Return the smallest weight that two different rows have in common: the least entry of the co-association.

    At worst all pairs of rows are compared. Mostly two of the first rows have nothing in common, and 0 is the minimum.
    """
    n_rows, n_rounds = codes.shape
    least: float = np.sum(weights)
    for i in range(n_rows):
        for j in range(i):
            common = 0.0
            for t in range(n_rounds):
                if codes[i, t] == codes[j, t] and codes[i, t] >= 0:
                    common += weights[t]
                    if common >= least:
                        break
            if common < least:
                least = common
            if least == 0.0:
                return least
    return least


# So many runs are compared for all examples at a time, before any example is looked at by itself; counts of runs that
# differ are of int8.
N_FIRST_RUNS = 16
ROUNDING = 1e-9


@jit
def vote_by_similarity(
    codes: Any, examples: Any, weights: Any, marginals: Any, power: int, max_apart: float, votes: Any
) -> None:
    """Add up the marginals of the examples, each times its co-association with a row to some power, into `votes`.

    The weights sum to one. They should decrease from run to run: then most examples are soon found to be too far.
    """
    n_runs = codes.shape[1]
    n_first = min(n_runs, N_FIRST_RUNS)
    by_run = examples[:, :n_first].T.copy()
    most = most_differing(weights[:n_first], max_apart)
    differing = np.empty(len(examples), np.int8)
    for i in range(len(codes)):
        differing[:] = 0
        for t in range(n_first):
            code = codes[i, t]
            if code < 0:
                differing += np.int8(1)
            else:
                of_run = by_run[t]
                for a in range(len(examples)):
                    differing[a] += np.int8(code != of_run[a])
        for a in range(len(examples)):
            if differing[a] > most:
                continue
            apart = 0.0
            for t in range(n_runs):
                if codes[i, t] != examples[a, t] or codes[i, t] < 0:
                    apart += weights[t]
                    if apart > max_apart:
                        break
            if apart <= max_apart:
                votes[i] += (1.0 - apart) ** power * marginals[a]


@jit
def most_differing(weights: Any, max_apart: float) -> int:
    """Return in how many of the runs two rows may differ without being too far apart for certain."""
    apart = 0.0
    number = 0
    for weight in np.sort(weights):
        apart += weight
        if apart > max_apart + ROUNDING:
            break
        number += 1
    return number
