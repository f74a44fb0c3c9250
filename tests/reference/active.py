"""Strategies by their definitions: everything is computed from the list of answers at every question."""

from __future__ import annotations

import math
from itertools import product

import numpy as np


def component(facts, row):
    """The rows that chains of must-links join with a row."""
    found, grown = {row}, True
    while grown:
        more = {y for a, b, together in facts if together is True for x, y in ((a, b), (b, a)) if x in found}
        grown = not more <= found
        found |= more
    return found


def answered_between(facts, first, second, answer):
    """Whether there is such an answer about a row of one set and a row of another."""
    pairs = {frozenset(pair) for pair in product(first, second)}
    return any(given is answer and frozenset((a, b)) in pairs for a, b, given in facts)


def relation(facts, a, b):
    first, second = component(facts, a), component(facts, b)
    if b in first:
        return True
    return False if answered_between(facts, first, second, False) else None


def settled(facts, a, b):
    first, second = component(facts, a), component(facts, b)
    return relation(facts, a, b) is not None or answered_between(facts, first, second, None)


def squared(X, a, b):
    return sum((float(x) - float(y)) ** 2 for x, y in zip(X[a], X[b], strict=True))


def nearest(X, row, members):
    return min(sorted(members), key=lambda member: squared(X, row, member))


def skipped_with(facts, row):
    """The components for which a question about a row was skipped."""
    return {frozenset(component(facts, a + b - row)) for a, b, given in facts if given is None and row in (a, b)}


def set_aside(facts, row):
    """Whether three questions about a row were skipped and none was answered."""
    return all(given is None for a, b, given in facts if row in (a, b)) and len(skipped_with(facts, row)) >= 3


def draw_start(n_rows, facts, random):
    n_skipped = [len(skipped_with(facts, row)) for row in range(n_rows)]
    rows = [row for row in range(n_rows) if n_skipped[row] == min(n_skipped)]
    return rows[random.randint(len(rows))]


def replay(X, n_clusters, answers, seed):
    """All facts after the answers, including deduced ones, and the first row of each component."""
    random = np.random.RandomState(seed)
    facts, firsts = [], [draw_start(len(X), [], random)]
    for a, b, together in answers:
        if together is not None and relation(facts, a, b) is not None:
            continue
        facts.append((a, b, together))
        for row in (a, b):
            relations = [relation(facts, row, first) for first in firsts]
            if True in relations:
                continue
            if all(known is False for known in relations):
                firsts.append(row)
            elif len(firsts) >= n_clusters and relations.count(None) == 1:
                last = firsts[relations.index(None)]
                if not settled(facts, row, last):
                    facts.append((row, nearest(X, row, component(facts, last)), True))
        if together is None and len(firsts) == 1 and set_aside(facts, firsts[0]):
            firsts = [draw_start(len(X), facts, random)]
    return facts, firsts


def next_question(kind, X, n_clusters, answers, seed, order=()):
    """The question of a strategy after some answers; None if there is none."""
    facts, firsts = replay(X, n_clusters, answers, seed)
    groups = {first: component(facts, first) for first in firsts}
    placed = set().union(*groups.values())
    is_open = {
        row: [first for first in firsts if not settled(facts, row, first)] for row in range(len(X)) if row not in placed
    }
    waiting = [row for row, open_firsts in is_open.items() if open_firsts]
    is_unfinished = bool(answers) and answers[-1][0] in waiting and not set_aside(facts, answers[-1][0])
    waiting = [row for row in waiting if not set_aside(facts, row)] or waiting
    if not waiting or (kind == "explore" and len(firsts) >= n_clusters and not is_unfinished):
        return None
    if is_unfinished:
        row = answers[-1][0]
    elif kind == "consolidate" and len(firsts) >= n_clusters:
        row = next(row for row in order if row in waiting)
    else:
        row = max(waiting, key=lambda row: min(squared(X, row, member) for member in placed))
    by_center = kind == "consolidate"
    first = min(is_open[row], key=lambda first: cost(X, row, groups[first], by_center))
    return row, nearest(X, row, groups[first])


def cost(X, row, members, by_center):
    if not by_center:
        return min(squared(X, row, member) for member in members)
    center = [sum(float(X[member][j]) for member in members) / len(members) for j in range(len(X[row]))]
    return sum((float(x) - c) ** 2 for x, c in zip(X[row], center, strict=True))


def membership(leaves, groups, row):
    """The probability of each component for a row, by the similarity of every pair."""
    n_trees = len(leaves[row])
    alike = [
        sum(sum(leaves[row][t] == leaves[other][t] for t in range(n_trees)) / n_trees for other in group) / len(group)
        for group in groups
    ]
    total = sum(alike)
    return [value / total for value in alike] if total else [1 / len(groups)] * len(groups)


def uncertainty_per_question(probabilities):
    """Entropy over expected number of questions."""
    entropy = -sum(p * math.log2(p) for p in probabilities if p > 0)
    expected = sum(place * p for place, p in enumerate(sorted(probabilities, reverse=True), start=1))
    return entropy / expected


def cobras_run(X, answer, split, random, limit):
    """COBRAS by its definition: the facts of every question, and the clusters at the end or after `limit` questions.

    `split` divides rows into parts, each with its medoid; `random` makes the random state that picks a half.
    """
    facts = []

    def together(a, b):
        known = relation(facts, a, b)
        if known is None:
            if len(facts) == limit:
                raise StopIteration
            facts.append((a, b, answer(a, b)))
            known = facts[-1][2]
        return known

    def split_level(rows):
        level, picks = 0, random()
        while len(halves := split(rows, 2)) > 1 and not together(halves[0][1], halves[1][1]):
            level += 1
            rows = halves[picks.randint(2)][0]
        return 2 ** max(level, 1)

    def merge(clusters):
        merged = True
        while merged:
            merged = False
            pairs = [(math.sqrt(squared(X, s[1], t[1])), s, t) for c in clusters for d in clusters if c is not d
                     for s in c for t in d]  # fmt: skip
            for _, s, t in sorted(pairs, key=lambda pair: pair[0]):
                if together(s[1], t[1]):
                    first, second = (next(c for c in clusters if any(p is part for p in c)) for part in (s, t))
                    clusters = [c for c in clusters if c is not first and c is not second] + [first + second]
                    merged = True
                    break
        return clusters

    every_row = list(range(len(X)))
    clusters, complete = [[(every_row, None)]], None
    try:
        while True:
            parts = [part for cluster in clusters for part in cluster if len(split(part[0], 2)) > 1]
            if not parts:
                return facts, complete
            largest = max(parts, key=lambda part: (len(part[0]), -min(part[0])))
            new = split(largest[0], split_level(largest[0]))
            clusters = [[part for part in cluster if part is not largest] for cluster in clusters]
            clusters = merge([cluster for cluster in clusters if cluster] + [[part] for part in new])
            complete = [sorted(row for part in cluster for row in part[0]) for cluster in clusters]
    except StopIteration:
        return facts, complete
