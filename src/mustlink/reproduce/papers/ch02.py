"""The experiments of chapter 2: a simulated user criticizes clusters of texts, and term weights follow."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import xlogy
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from mustlink._types import Array, Floats, Indices, Ints
from mustlink.constraints import Constraints
from mustlink.datasets import load
from mustlink.mixture import Feedback, FeedbackMixture
from mustlink.reproduce.engine._claims import NO_RESULTS, TIE, Claim, Verdict, join_words, missing_methods, score_text
from mustlink.reproduce.engine._figures import Figure, Line, LineStyle, draw_panels
from mustlink.reproduce.engine._methods import Labeling, Method
from mustlink.reproduce.engine._problem import DataSet, Problem
from mustlink.reproduce.engine._protocol import Part, Protocol, RunPlan
from mustlink.reproduce.engine._results import Results, Run, nan_mean
from mustlink.reproduce.engine._tables import Table, number_text

PAPER = "ch02"
NEWS = "news_mini"
# Stand-ins for business, health, politics, sports and tech.
TOPICS = ("misc.forsale", "sci.med", "talk.politics.mideast", "rec.sport.hockey", "comp.graphics")
TEXTS_PER_TOPIC = 25
# Messages with fewer words are left out: those of the chapter are articles.
MIN_WORDS = 50
N_CONSTRAINTS = 30
SHOWN = (0, 1, 2, 3, 5, 7, 10, 15, 20, 25, 30)
# The chapter compares terms after about so many constraints.
N_COMPARED = 12
TOP_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
N_LABELS = (5, 10, 15, 20, 30, 40, 60, 80, 100, 125)
PENALTY = 100.0
WEIGHTS, MULTIPLIED, RANDOM = "term weights", "multiplied weights", "random pairs"
LINKS, BOTH, SUPERVISED = "links alone", "weights and links", "naive Bayes"
STYLES = {
    WEIGHTS: LineStyle(0),
    MULTIPLIED: LineStyle(1),
    RANDOM: LineStyle(6, ":"),
    LINKS: LineStyle(3),
    BOTH: LineStyle(4),
    SUPERVISED: LineStyle(2, "--"),
}
# Two ways to split the same texts.
SYNTHETIC = {"two_attributes_a": "two attributes: A", "two_attributes_b": "two attributes: B"}
CROSSED = {"news_software": "news: hardware or software", "news_pc": "news: PC or not"}
TITLES = {NEWS: "news: five topics", **SYNTHETIC, **CROSSED}
# The groups that cross two attributes: software or hardware, of the PC or of others.
GROUPS = {
    "comp.sys.ibm.pc.hardware": (0, 1),
    "comp.os.ms-windows.misc": (1, 1),
    "comp.sys.mac.hardware": (0, 0),
    "comp.windows.x": (1, 0),
}
N_DRAWN = 200
# Pairs that are looked at for a counterexample, for each row.
N_TRIED = 200
ABOUT = 0.1


# ---- texts -----------------------------------------------------------------------------------------------------------


def message_words(text: str) -> str:
    """Return the subject and the body of a message, without quotations, signature and addresses."""
    head, _, body = text.replace("\r\n", "\n").partition("\n\n")
    subject = re.search(r"^Subject: *(?:Re: *)?(.*)$", head, re.MULTILINE)
    body = re.split(r"\n--+ *\n", body)[0]
    lines = [
        line
        for line in body.split("\n")
        if not line.lstrip().startswith((">", "|", ":", "In article"))
        and not re.search(r"(writes|wrote|says) *:? *$", line)
    ]
    return re.sub(r"\S*@\S*", " ", "\n".join([subject[1] if subject else "", *lines]))


def messages(table: Array) -> Array:
    """Return the words of all messages."""
    return np.array([message_words(str(text)) for text in table[:, 1]], dtype=object)


def vectorizer() -> CountVectorizer:
    """Count words of at least three letters that occur in three texts or more."""
    return CountVectorizer(stop_words="english", min_df=3, token_pattern=r"[a-zA-Z]{3,}")


def counts_of(X: Array) -> tuple[Any, Array]:
    """Return the counts of texts, and the words; counts as they are."""
    if X.dtype != object:
        return X, np.arange(X.shape[1])
    words = vectorizer()
    return words.fit_transform(X), words.get_feature_names_out()


def long_texts(X: Array) -> Indices:
    """Return the texts with enough words."""
    split = vectorizer().build_analyzer()
    return np.flatnonzero([len(split(text)) >= MIN_WORDS for text in X])


def crossed_messages(attribute: int) -> tuple[Array, Ints]:
    """Return the messages of four groups, and one of their two attributes."""
    bunch: Any = load(NEWS)
    names = np.asarray(bunch.target_names)[bunch.target]
    rows = np.flatnonzero(np.isin(names, list(GROUPS)))
    texts = messages(bunch.data[rows])
    kept = long_texts(texts)
    return texts[kept], np.array([GROUPS[name][attribute] for name in names[rows][kept]])


def two_attributes(attribute: int, *, n_rows: int = 2000, length: int = 100, seed: int = 0) -> tuple[Floats, Ints]:
    """Make texts with two independent binary attributes, and return one of them.

    Each attribute has two sets of 10 indicative terms. A fifth of a text is drawn from the sets of each attribute, 4 of
    5 terms from the right one; 15% from the subject of the text, one of four; and the rest from a common background of
    200 terms, on which the subjects are too. The length is a Poisson variable.
    """
    rng = np.random.RandomState(seed)
    n_terms, n_background, share, right, of_subject = 10, 200, 0.2, 0.8, 0.15
    values, subject = rng.randint(2, size=(n_rows, 2)), rng.randint(4, size=n_rows)
    subjects = rng.dirichlet(np.full(n_background, 0.05), size=4)
    background = rng.dirichlet(np.ones(n_background))
    X = np.empty((n_rows, 4 * n_terms + n_background))
    for row in range(n_rows):
        sides = [right if value == side else 1 - right for value in values[row] for side in (0, 1)]
        indicative = np.repeat(share * np.array(sides) / n_terms, n_terms)
        rest = of_subject * subjects[subject[row]] + (1 - 2 * share - of_subject) * background
        X[row] = rng.multinomial(rng.poisson(length) + 1, np.concatenate([indicative, rest]))
    return X, values[:, attribute]


# ---- the simulated user ----------------------------------------------------------------------------------------------


def purity(labels: Ints, y: Ints) -> float:
    """Return the fraction of rows that are of the most frequent class of their cluster."""
    table = np.bincount(labels * (y.max() + 1) + y, minlength=(labels.max() + 1) * (y.max() + 1))
    return float(table.reshape(-1, y.max() + 1).max(axis=1).sum() / len(y))


def find_counterexample(labels: Ints, y: Ints, rng: np.random.RandomState, *, is_random: bool) -> Feedback | None:
    """Draw two rows of different classes: of one cluster, unless random; None if there are none."""
    pairs = rng.randint(len(y), size=(N_TRIED * len(y), 2))
    a, b = pairs.T
    fits = (y[a] != y[b]) & (is_random | (labels[a] == labels[b]))
    return Feedback("cannot_link", tuple(pairs[fits.argmax()])) if fits.any() else None


def teach(problem: Problem, X: Any, y: Ints, *, is_random: bool = False, **parameters: Any) -> dict[str, Any]:
    """Give one cannot-link after each clustering; return the purity after each, and the term weights at two times."""
    rng = np.random.RandomState(problem.shared_seed)
    k = len(np.unique(y))
    model = FeedbackMixture(k, random_state=problem.shared_seed, **parameters).fit(X)
    curve, n_unsatisfied, weights = [purity(model.labels_, y)], [0], {}
    for number in range(1, int(problem.amount) + 1):
        found = find_counterexample(model.labels_, y, rng, is_random=is_random)
        if found is not None:
            model.feedback(found).refit()
        curve.append(purity(model.labels_, y))
        n_unsatisfied.append(len(model.unsatisfied_))
        if number in (N_COMPARED, int(problem.amount)):
            weights[number] = model.term_weights_.copy()
    return {"labels": model.labels_, "purity": curve, "unsatisfied": n_unsatisfied, "weights": weights}


def fit_taught(parameters: dict[str, Any], problem: Problem) -> Labeling:
    """Teach on all rows of a problem."""
    X, _ = counts_of(problem.X)
    found = teach(problem, X, problem.y, **parameters)
    return Labeling(found["labels"], {"purity": found["purity"], "unsatisfied": found["unsatisfied"]})


def fit_topics(parameters: dict[str, Any], problem: Problem) -> Labeling:
    """Teach on 25 messages of each of five topics, and compare the terms with those of most information."""
    rows, y, _ = draw_topics(problem)
    X, _ = counts_of(problem.X[rows])
    found = teach(problem, X, y, **parameters)
    facts = {"purity": found["purity"], "unsatisfied": found["unsatisfied"]}
    if parameters.get("n_steps") != 0:
        gain = information_gain(X, y)
        for number, weights in found["weights"].items():
            facts[f"overlap_{number}"] = [top_overlap(weights, gain, share) for share in TOP_SHARES]
    return spread_over(problem, rows, found["labels"], facts)


def is_of_topics(problem: Problem) -> bool:
    """Return whether a problem has the messages of all groups, of which five are the topics."""
    return problem.X.dtype == object and problem.n_clusters > len(TOPICS)


def draw_topics(problem: Problem) -> tuple[Indices, Ints, Indices]:
    """Draw the messages of a trial: their rows, their topics, and the rows of the other messages of these topics."""
    rng = np.random.RandomState(problem.shared_seed)
    names = sorted_groups()
    long = long_texts(problem.X)
    drawn, others = [], []
    for topic in TOPICS:
        rows = rng.permutation(long[problem.y[long] == names.index(topic)])
        drawn.append(np.sort(rows[:TEXTS_PER_TOPIC]))
        others.append(rows[TEXTS_PER_TOPIC:])
    y = np.repeat(np.arange(len(TOPICS)), [len(rows) for rows in drawn])
    return np.concatenate(drawn), y, np.concatenate(others)


def sorted_groups() -> list[str]:
    """Return the names of the groups by their numbers."""
    bunch: Any = load(NEWS)
    return list(bunch.target_names)


def spread_over(problem: Problem, rows: Indices, labels: Ints, facts: dict[str, Any]) -> Labeling:
    """Return labels of some rows of a problem; the others have none."""
    every = np.full(len(problem.y), -1)
    every[rows] = labels
    return Labeling(every, facts)


def information_gain(X: Any, y: Ints) -> Floats:
    """Return the information that the presence of each term has of the classes."""
    present = (X > 0).astype(np.float64)
    in_class = np.array([np.asarray(present[y == c].sum(axis=0)).ravel() for c in np.unique(y)])
    sizes = np.bincount(y).astype(np.float64)
    joint = np.stack([in_class, sizes[:, None] - in_class]) / len(y)
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return np.asarray(xlogy(joint, joint / np.where(independent > 0, independent, 1.0)).sum(axis=(0, 1)))


def top_overlap(one: Floats, other: Floats, share: float) -> float:
    """Return the fraction that the highest entries of two rankings have in common."""
    n_top = max(1, round(share * len(one)))
    tops = [set(np.argsort(-values, kind="stable")[:n_top].tolist()) for values in (one, other)]
    return len(tops[0] & tops[1]) / n_top


# ---- the supervised control ------------------------------------------------------------------------------------------


def fit_supervised(problem: Problem) -> Labeling:
    """Train naive Bayes with more and more labels, with and without warped term weights."""
    rows, X, y, test, truth = learning_task(problem)
    order = np.random.RandomState(problem.shared_seed).permutation(len(y))
    facts: dict[str, list[float]] = {"labels": list(N_LABELS), "train": [], "test": [], "test_warped": []}
    for n_labels in N_LABELS:
        chosen = order[:n_labels]
        model = MultinomialNB().fit(X[chosen], y[chosen])
        facts["train"].append(purity(model.predict(X), y))
        facts["test"].append(float((model.predict(test) == truth).mean()))
        weights = tighten_classes(X[chosen], y[chosen])
        warped = MultinomialNB().fit(X[chosen].multiply(weights).tocsr(), y[chosen])
        facts["test_warped"].append(float((warped.predict(test.multiply(weights).tocsr()) == truth).mean()))
    return spread_over(problem, rows, warped.predict(X.multiply(weights).tocsr()), facts)


def learning_task(problem: Problem) -> tuple[Indices, Any, Ints, Any, Ints]:
    """Return the rows to learn from, their counts and classes, and the counts and classes of other rows."""
    if not is_of_topics(problem):
        X, half = csr_array(counts_of(problem.X)[0]), len(problem.y) // 2
        return np.arange(half), X[:half], problem.y[:half], X[half:], problem.y[half:]
    rows, y, others = draw_topics(problem)
    words, names = vectorizer(), sorted_groups()
    X = words.fit_transform(problem.X[rows])
    truth = np.array([TOPICS.index(names[number]) for number in problem.y[others]])
    return rows, X, y, words.transform(problem.X[others]), truth


def tighten_classes(X: Any, y: Ints, *, step: float = 0.1, n_steps: int = 10) -> Floats:
    """Return term weights that shrink the divergences between rows and their own classes, as the chapter's control."""
    rows = X.toarray()
    gradient = np.zeros(rows.shape[1])
    lengths = rows.sum(axis=1, keepdims=True)
    p = (rows + 1) / (lengths + rows.shape[1])
    for c in np.unique(y):
        total = rows[y == c].sum(axis=0) + 1
        q = total / total.sum()
        m = (p[y == c] + q) / 2
        gradient += (lengths[y == c] * (xlogy(p[y == c], p[y == c] / m) + xlogy(q, q / m))).sum(axis=0)
    weights = np.ones(rows.shape[1])
    for _ in range(n_steps):
        weights /= 1 + step * np.maximum(gradient / max(np.abs(gradient).max(), 1e-12), 0)
        weights /= weights.mean()
    return weights


# ---- runs, tables, figures -------------------------------------------------------------------------------------------

PARAMETERS: dict[str, dict[str, Any]] = {
    WEIGHTS: {"warm_start": False},
    MULTIPLIED: {"warm_start": False, "update": "multiplicative"},
    RANDOM: {"warm_start": False, "is_random": True},
    LINKS: {"warm_start": False, "n_steps": 0, "penalty": PENALTY},
    BOTH: {"penalty": PENALTY},
}
SPLIT_METHODS = (WEIGHTS, MULTIPLIED, LINKS, BOTH)


def method_of(name: str) -> Method:
    """Return a method, which works on the five topics of the messages and on any other set."""

    def fit(problem: Problem) -> Labeling:
        return (fit_topics if is_of_topics(problem) else fit_taught)(PARAMETERS[name], problem)

    return fit


def topic_runs(plan: RunPlan) -> Iterator[Run]:
    """All methods on the messages."""
    yield from plan.runs(PAPER, (*PARAMETERS, SUPERVISED), datasets=[NEWS], amounts=(N_CONSTRAINTS,))


def split_runs(titles: dict[str, str], plan: RunPlan) -> Iterator[Run]:
    """The methods on both ways to split texts."""
    yield from plan.runs(PAPER, SPLIT_METHODS, datasets=tuple(titles), amounts=(N_CONSTRAINTS,), rows=N_DRAWN)


def mean_curve(results: Results, dataset: str, method: str, fact: str = "purity") -> list[float]:
    """Return the mean over the trials after each number of constraints."""
    curves = results.values(fact, dataset=dataset, method=method)
    return [float(value) for value in np.mean(curves, axis=0)] if curves else []


def deviations(results: Results, dataset: str, method: str) -> list[float]:
    """Return the standard deviation over the trials after each number of constraints."""
    curves = results.values("purity", dataset=dataset, method=method)
    return [float(value) for value in np.std(curves, axis=0)] if curves else []


def curve_table(name: str, titles: Sequence[str], results: Results) -> Iterator[Table]:
    """The purity after some numbers of constraints, with the standard deviation over the trials."""
    rows = []
    for dataset in titles:
        for method in PARAMETERS:
            curve, spread = mean_curve(results, dataset, method), deviations(results, dataset, method)
            if curve:
                cells = [f"{curve[number]:.3f} ± {spread[number]:.3f}" for number in SHOWN]
                rows.append((TITLES[dataset], method, *cells))
    header = ("set", "method", *(f"{number} constraints" for number in SHOWN))
    yield Table(name, "Purity, mean and standard deviation over the trials", header, tuple(rows))


def topic_tables(results: Results) -> Iterator[Table]:
    """Purity, the supervised learner, and the overlap of terms."""
    yield from curve_table("topics", (NEWS,), results)
    names = {"train": "all 125 texts", "test": "other texts", "test_warped": "other texts, term weights warped"}
    rows = []
    for fact, title in names.items():
        curve = mean_curve(results, NEWS, SUPERVISED, fact)
        if curve:
            rows.append((title, *(number_text(value) for value in curve)))
    header = ("naive Bayes, accuracy on", *(f"{number} labels" for number in N_LABELS))
    yield Table("supervised", "The supervised control", header, tuple(rows))
    rows = []
    for method in (WEIGHTS, MULTIPLIED, BOTH):
        for number in (N_COMPARED, N_CONSTRAINTS):
            curve = mean_curve(results, NEWS, method, f"overlap_{number}")
            if curve:
                rows.append((method, str(number), *(number_text(value, 2) for value in curve)))
    header = ("method", "constraints", *(f"top {share:.0%}" for share in TOP_SHARES))
    note = "By chance the overlap is the share itself."
    yield Table("terms", "Overlap of the heaviest terms with those of most information", header, tuple(rows), note)


def curve_figures(name: str, titles: Sequence[str], results: Results) -> Iterator[Figure]:
    """Purity against the number of constraints; naive Bayes against the number of labels."""
    panels: dict[str, list[Line]] = {}
    for dataset in titles:
        lines = []
        for method, style in STYLES.items():
            curve = mean_curve(results, dataset, method)
            if curve:
                lines.append(style.line(range(len(curve)), curve, method, markevery=5))
        learned = mean_curve(results, dataset, SUPERVISED, "test")
        if learned:
            few = [number for number in N_LABELS if number <= N_CONSTRAINTS]
            lines.append(STYLES[SUPERVISED].line(few, learned[: len(few)], f"{SUPERVISED}, other texts"))
        if lines:
            panels[TITLES[dataset]] = lines
    if panels:
        axis_titles = ("number of constraints, or of labels", "purity")
        caption = "Purity against the number of constraints; mean over the trials."
        yield Figure(name, caption, partial(draw_panels, panels, axis_titles=axis_titles))


def topic_figures(results: Results) -> Iterator[Figure]:
    """Figures 2.2 and 2.3."""
    yield from curve_figures("topics", (NEWS,), results)
    lines = []
    percent = [100 * share for share in TOP_SHARES]
    for method in (WEIGHTS, MULTIPLIED):
        for number, dashes in ((N_COMPARED, "-"), (N_CONSTRAINTS, "--")):
            curve = mean_curve(results, NEWS, method, f"overlap_{number}")
            if curve:
                style = LineStyle(STYLES[method].place, dashes)
                lines.append(style.line(percent, curve, f"{method}, {number} constraints"))
    if lines:
        lines.append(LineStyle(6, ":").line(percent, TOP_SHARES, "chance"))
        draw = partial(draw_panels, {TITLES[NEWS]: lines}, axis_titles=("top percent of the terms", "overlap"))
        yield Figure("terms", "Overlap of the heaviest terms with those of most information.", draw)


# ---- claims ----------------------------------------------------------------------------------------------------------


def topics_curve(results: Results) -> list[float]:
    """Return the purity of the chapter's method on the messages."""
    return mean_curve(results, NEWS, WEIGHTS)


def at(curve: Sequence[float], *numbers: int) -> str:
    """Write the purity at some numbers of constraints."""
    return join_words(f"{score_text(curve[number])} after {number}" for number in numbers)


def judge_rise(results: Results) -> Verdict:
    """A few constraints raise the purity far above that without any."""
    curve = topics_curve(results)
    if not curve:
        return NO_RESULTS
    return Verdict(curve[5] >= curve[0] + 0.05, f"Purity {at(curve, 0, 3, 5, 10)} constraints.")


def judge_asymptote(results: Results) -> Verdict:
    """After ten constraints there is no more to gain."""
    curve = topics_curve(results)
    if not curve:
        return NO_RESULTS
    held = curve[10] > curve[0] + TIE and max(curve[10:21]) <= curve[10] + TIE
    return Verdict(held, f"Purity {at(curve, 0, 10, 15, 20)} constraints.")


def judge_supervised(results: Results) -> Verdict:
    """Naive Bayes needs three to six times as many labels for the purity of ten constraints."""
    curve, learned = topics_curve(results), mean_curve(results, NEWS, SUPERVISED, "test")
    if not curve or not learned:
        return missing_methods(results, (WEIGHTS, SUPERVISED), dataset=NEWS) or NO_RESULTS
    needed = next((labels for labels, score in zip(N_LABELS, learned, strict=True) if score >= curve[10]), math.inf)
    words = f"{needed:g} labels" if needed < math.inf else f"more than {N_LABELS[-1]} labels"
    gained = curve[10] > curve[0] + TIE
    sentence = f"Naive Bayes reaches the {score_text(curve[10])} of 10 constraints with {words}"
    more = "." if gained else f"; but without constraints the purity is {score_text(curve[0])} already."
    return Verdict(gained and needed >= 30, sentence + more)


def judge_fall(results: Results) -> Verdict:
    """From about twenty constraints on, the purity falls."""
    curve = topics_curve(results)
    if not curve:
        return NO_RESULTS
    held = curve[30] < max(curve[10:21]) - TIE
    return Verdict(held, f"Purity {at(curve, 10, 20, 30)} constraints.")


def judge_terms(results: Results) -> Verdict:
    """The heaviest terms are often those of most information, and with more constraints more often."""
    early, late = (mean_curve(results, NEWS, WEIGHTS, f"overlap_{number}") for number in (N_COMPARED, N_CONSTRAINTS))
    if not early or not late:
        return NO_RESULTS
    chance = nan_mean(TOP_SHARES)
    held = nan_mean(early) > 2 * chance and nan_mean(late) > nan_mean(early)
    words = join_words(
        f"{score_text(value)} of the top {share:.0%}" for share, value in zip(TOP_SHARES, early, strict=True)
    )
    sentence = f"After {N_COMPARED} constraints {words}; on average {score_text(nan_mean(early))}, and "
    return Verdict(held, f"{sentence}{score_text(nan_mean(late))} after {N_CONSTRAINTS}.")


def judge_control(results: Results) -> Verdict:
    """Warped term weights do not help the supervised learner."""
    plain, warped = (mean_curve(results, NEWS, SUPERVISED, fact) for fact in ("test", "test_warped"))
    if not plain or not warped:
        return NO_RESULTS
    gains = [b - a for a, b in zip(plain, warped, strict=True)]
    sentence = f"Accuracy on other texts {score_text(nan_mean(plain))}, and {score_text(nan_mean(warped))} with them."
    return Verdict(nan_mean(gains) <= TIE, sentence)


def split_scores(results: Results, titles: dict[str, str], method: str, number: int) -> dict[str, float]:
    """Return the purity for both ways to split the texts, after a number of constraints."""
    curves = {title: mean_curve(results, dataset, method) for dataset, title in titles.items()}
    return {title: curve[number] for title, curve in curves.items() if curve}


def judge_split(titles: dict[str, str], results: Results) -> Verdict:
    """Ten constraints suffice for about 80% in either direction."""
    found = split_scores(results, titles, WEIGHTS, 10)
    if len(found) < len(titles):
        return NO_RESULTS
    return Verdict(min(found.values()) >= 0.8 - ABOUT / 2, f"After 10 constraints {listed(found)}.")


def judge_split_links(titles: dict[str, str], results: Results) -> Verdict:
    """The same constraints without term weights give about 64%."""
    ours, alone = (split_scores(results, titles, method, 10) for method in (WEIGHTS, LINKS))
    if min(len(ours), len(alone)) < len(titles):
        return NO_RESULTS
    mean, with_weights = nan_mean(alone.values()), nan_mean(ours.values())
    held = abs(mean - 0.64) <= ABOUT and mean < with_weights - TIE
    return Verdict(held, f"{score_text(mean)} on average, and {score_text(with_weights)} with term weights.")


def judge_split_alone(titles: dict[str, str], results: Results) -> Verdict:
    """Without constraints, about 50%."""
    found = split_scores(results, titles, WEIGHTS, 0)
    if len(found) < len(titles):
        return NO_RESULTS
    return Verdict(nan_mean(found.values()) <= 0.5 + ABOUT, f"Without constraints {listed(found)}.")


def listed(found: dict[str, float]) -> str:
    """Write scores by the titles of their sets."""
    return join_words(f"{title} {score_text(value)}" for title, value in found.items())


TOPIC_CLAIMS = (
    Claim("R1", "Purity rises sharply above the unsupervised level after a few constraints (figure 2.2).", judge_rise),
    Claim("R2", "It reaches its asymptote at about 10 constraints.", judge_asymptote),
    Claim("R3", "Supervised learners need 3 to 6 times as many labels for the same level.", judge_supervised),
    Claim("R4", "Purity begins to fall after roughly 20 constraints.", judge_fall),
    Claim(
        "R5",
        "After about 12 constraints the heaviest terms overlap moderately with those of most information; more with "
        "more constraints (figure 2.3).",
        judge_terms,
    ),
    Claim("R6", "Warped term weights do not help the supervised learner.", judge_control),
)


def split_claims(titles: dict[str, str], where: str, ending: str) -> tuple[Claim, ...]:
    """Return the claims about two ways to split texts, for one stand-in."""
    made: tuple[tuple[str, str, Callable[..., Verdict]], ...] = (
        ("U1", "10 constraints give about 80% for either way to split the texts", judge_split),
        ("U2", "The same constraints without term weights give 64% on average", judge_split_links),
        ("U3", "Without constraints it is about 50%", judge_split_alone),
    )
    return tuple(Claim(f"{name}{ending}", f"{text} ({where}).", partial(judge, titles)) for name, text, judge in made)


PROTOCOL = Protocol(
    name=PAPER,
    title="Chapter 2: clustering with user feedback",
    source=(
        "D. Cohn, R. Caruana and A. McCallum, Semi-supervised Clustering with User Feedback, in Constrained "
        "Clustering, 2009."
    ),
    intro=(
        "The chapter has 125 Reuters articles of five topics, and 20,000 USENET articles that can be split in two "
        "ways; neither is public. In their place are 25 messages of each of five newsgroups (for sale, medicine, "
        "Middle East, hockey, graphics; subject and body, without quotations and signatures, of at least 50 words); "
        "synthetic texts with two independent attributes, each with indicative terms, and four subjects that neither "
        "attribute depends on; and messages of four newsgroups that cross hardware or software with PC or not, of "
        "which 200 are drawn. After each clustering a simulated user draws two texts of one cluster with different "
        "classes, and says that they do not belong together. Term weights is the chapter's method, with steps that "
        "add to the weights; in multiplied weights they multiply. Random pairs gets pairs of different classes that "
        "need not share a cluster. Links alone keeps the same constraints in the E-step with a penalty of "
        f"{PENALTY:g}, without term weights; weights and links has both, and also starts from the present clusters, "
        "as mustlink teach. All take the best of ten starts. Naive Bayes is the supervised learner."
    ),
    datasets=(
        DataSet(NEWS, TITLES[NEWS], messages),
        *(DataSet(name, TITLES[name], make=partial(two_attributes, place)) for place, name in enumerate(SYNTHETIC)),
        DataSet("news_software", TITLES["news_software"], make=partial(crossed_messages, 0)),
        DataSet("news_pc", TITLES["news_pc"], make=partial(crossed_messages, 1)),
    ),
    methods={**{name: method_of(name) for name in PARAMETERS}, SUPERVISED: fit_supervised},
    draw=lambda y, run: Constraints(),  # the user answers
    parts=(
        Part("topics", topic_runs, topic_tables, topic_figures, TOPIC_CLAIMS),
        Part(
            "synthetic",
            partial(split_runs, SYNTHETIC),
            partial(curve_table, "synthetic", tuple(SYNTHETIC)),
            partial(curve_figures, "synthetic", tuple(SYNTHETIC)),
            split_claims(SYNTHETIC, "synthetic texts", "s"),
        ),
        Part(
            "crossed",
            partial(split_runs, CROSSED),
            partial(curve_table, "crossed", tuple(CROSSED)),
            partial(curve_figures, "crossed", tuple(CROSSED)),
            split_claims(CROSSED, "four newsgroups", "n"),
        ),
    ),
    quick=RunPlan(tuple(TITLES), (), 5, special_trials={NEWS: 10}, note="Quick run: 10 trials, 5 of the splits."),
    full=RunPlan(tuple(TITLES), (), 20, note="20 trials, the chapter 10."),
)
