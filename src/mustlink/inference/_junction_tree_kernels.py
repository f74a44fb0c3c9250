"""Compiled elimination of the nodes of parts with cycles, and the way back: sum-product and max-product.

Eliminating a node yields a table over its states and those of its scope, the neighbors that it has then. A state of the
table is a number in base n_states, whose lowest digit belongs to the node and the next ones to the scope in the order
of elimination. The first node of the scope is the parent, and its own table takes the message, which has the digits of
the scope. The arrays of the plan are those of :class:`mustlink.inference._junction_tree.JunctionTrees`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mustlink._jit import jit
from mustlink.inference._tree_kernels import first_largest, log_weight


@jit
def eliminate(belief: Any, plan: Any, tables: Any, is_best: bool) -> float:
    """Fill the tables in the order of elimination, and return the log-normalizer.

    A table becomes the probability of the states of its node given its scope, or, for the best labeling, their
    log-weights.
    """
    order, place_of, scope_ptr, scope, table_ptr, edge_ptr, edge_digit, coupling = plan
    n_states = belief.shape[1]
    for place in range(len(order)):
        table = tables[table_ptr[place] : table_ptr[place + 1]]
        for t in range(0, len(table), n_states):
            for s in range(n_states):
                table[t + s] = belief[order[place], s]
        for edge in range(edge_ptr[place], edge_ptr[place + 1]):
            add_edge(table, n_states ** edge_digit[edge], n_states, coupling[edge])
    log_normalizer = 0.0
    for place in range(len(order)):
        table = tables[table_ptr[place] : table_ptr[place + 1]]
        message = np.empty(len(table) // n_states)
        reduce_node(table, n_states, is_best, message)
        scope_here = scope[scope_ptr[place] : scope_ptr[place + 1]]
        if len(scope_here):
            above = place_of[scope_here[0]]
            scope_above = scope[scope_ptr[above] : scope_ptr[above + 1]]
            strides = strides_of(scope_here, scope_above, n_states)
            add_message(tables[table_ptr[above] : table_ptr[above + 1]], message, strides, n_states)
        else:
            log_normalizer += message[0]
    return log_normalizer


@jit
def reduce_node(table: Any, n_states: int, is_best: bool, message: Any) -> None:
    """Write the logarithm of the sum over the states of the node of a table, or of the largest weight if `is_best`.

    For sums, the table becomes the probability of the states; it is zero where none is possible.
    """
    for m in range(len(message)):
        start = m * n_states
        top = -np.inf
        for t in range(start, start + n_states):
            top = max(top, table[t])
        message[m] = top
        if is_best:
            continue
        total = 0.0
        for t in range(start, start + n_states):
            table[t] = np.exp(table[t] - top) if top > -np.inf else 0.0
            total += table[t]
        if total > 0:
            message[m] += np.log(total)
            inverse = 1.0 / total
            for t in range(start, start + n_states):
                table[t] *= inverse


@jit
def add_edge(table: Any, stride: int, n_states: int, coupling: float) -> None:
    """Add the weight of the edge between the node of a table and the node of the digit with a stride."""
    equal = log_weight(coupling, True)
    unequal = log_weight(coupling, False)
    for start in range(0, len(table), stride * n_states):
        for other in range(n_states):
            for t in range(start + other * stride, start + (other + 1) * stride, n_states):
                for s in range(n_states):
                    table[t + s] += equal if s == other else unequal


@jit
def chance_of_equality(table: Any, stride: int, n_states: int) -> float:
    """Return the probability that the node of a table and the node of the digit with a stride have equal states."""
    total = 0.0
    for start in range(0, len(table), stride * n_states):
        for other in range(n_states):
            for t in range(start + other * stride, start + (other + 1) * stride, n_states):
                total += table[t + other]
    return total


@jit
def strides_of(scope: Any, scope_above: Any, n_states: int) -> Any:
    """Return by how much the index into a message grows with each node of the scope of the parent.

    It grows by one with the state of the parent itself, the first node of the scope of the message.
    """
    strides = np.zeros(len(scope_above), dtype=np.int64)
    stride = n_states
    place = 1
    for digit in range(len(scope_above)):
        if place < len(scope) and scope[place] == scope_above[digit]:
            strides[digit] = stride
            stride *= n_states
            place += 1
    return strides


@jit
def add_message(table: Any, message: Any, strides: Any, n_states: int) -> None:
    """Add to each entry of a table the entry of the message that belongs to it."""
    digits = np.zeros(len(strides), dtype=np.int64)
    index = 0
    for t in range(0, len(table), n_states):
        for s in range(n_states):
            table[t + s] += message[index + s]
        index = advance(digits, strides, n_states, index)


@jit
def sum_onto(table: Any, message: Any, strides: Any, n_states: int) -> None:
    """Add each entry of a table to the entry of the message that belongs to it."""
    digits = np.zeros(len(strides), dtype=np.int64)
    index = 0
    for t in range(0, len(table), n_states):
        for s in range(n_states):
            message[index + s] += table[t + s]
        index = advance(digits, strides, n_states, index)


@jit
def advance(digits: Any, strides: Any, n_states: int, index: int) -> int:
    """Count one up, and return the index of the new digits."""
    for place in range(len(digits)):
        digits[place] += 1
        index += strides[place]
        if digits[place] < n_states:
            break
        digits[place] = 0
        index -= n_states * strides[place]
    return index


@jit
def calibrate(plan: Any, tables: Any, marginal: Any, equal: Any) -> None:
    """Turn conditional probabilities into joint ones, parents first; write marginals and chances of equality."""
    order, place_of, scope_ptr, scope, table_ptr, edge_ptr, edge_digit, _ = plan
    n_states = marginal.shape[1]
    for place in range(len(order) - 1, -1, -1):
        table = tables[table_ptr[place] : table_ptr[place + 1]]
        scope_here = scope[scope_ptr[place] : scope_ptr[place + 1]]
        if len(scope_here):
            above = place_of[scope_here[0]]
            scope_above = scope[scope_ptr[above] : scope_ptr[above + 1]]
            given = np.zeros(len(table) // n_states)
            strides = strides_of(scope_here, scope_above, n_states)
            sum_onto(tables[table_ptr[above] : table_ptr[above + 1]], given, strides, n_states)
            for t in range(len(given)):
                for s in range(n_states):
                    table[t * n_states + s] *= given[t]
        node = order[place]
        for s in range(n_states):
            marginal[node, s] = 0.0
            for t in range(s, len(table), n_states):
                marginal[node, s] += table[t]
        for edge in range(edge_ptr[place], edge_ptr[place + 1]):
            equal[edge] = chance_of_equality(table, n_states ** edge_digit[edge], n_states)


@jit
def assign_tables(plan: Any, tables: Any, n_states: int, state: Any) -> None:
    """Write the best state of every node, given those of its scope."""
    order, _, scope_ptr, scope, table_ptr, _, _, _ = plan
    for place in range(len(order) - 1, -1, -1):
        index = 0
        for p in range(scope_ptr[place + 1] - 1, scope_ptr[place] - 1, -1):
            index = index * n_states + state[scope[p]]
        start = table_ptr[place] + index * n_states
        state[order[place]] = first_largest(tables[start : start + n_states])
