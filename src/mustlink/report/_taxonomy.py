"""What is shown of the categories of documents, and of what became of the given ones, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mustlink._spelling import count
from mustlink._types import Floats, Ints, Mask
from mustlink.constraints import known_rows
from mustlink.report._summary import NOISE, printable

if TYPE_CHECKING:
    from mustlink.text import GivenCategory, TaxonomyClusterer

__all__ = [
    "CategorySummary",
    "DocumentRanks",
    "DocumentView",
    "FlowRow",
    "GivenSummary",
    "MovedDocument",
    "TaxonomySummary",
    "rank_documents",
    "summarize_taxonomy",
]

MAX_TERMS = 15
MAX_ORIGINS = 4
N_TYPICAL = 4
N_UNSURE = 2
MAX_MOVED = 200
MAX_EXCERPT = 1_200
MAX_TITLE = 200
# Words of a document that are shown for a category.
MAX_WORDS = 6
# The most final categories that have a column in the table of flows.
MAX_FLOWS = 30
NO_CATEGORY = "none"
OTHERS = "others"
# What is said of given categories, in this order.
STATUSES = {"kept": "kept", "split": "split", "merged": "merged", "killed": "removed"}


class DocumentView(NamedTuple):
    """A document as it is shown.

    Parameters
    ----------
    name : str
        What it is called.
    title : str
        Its title, or how it begins.
    similarity : float
        Its cosine with its category.
    runner_up : str
        The category that is the next best for it; empty if there is none.

    Examples
    --------
    >>> from mustlink.report import DocumentView
    >>> DocumentView("17", "Hockey results", 0.41, "baseball").runner_up
    'baseball'
    """

    name: str
    title: str
    similarity: float
    runner_up: str


class CategorySummary(NamedTuple):
    """One category.

    Parameters
    ----------
    name : str
        What it is called.
    size : int
        The number of its documents.
    share : float
        Their fraction of all documents.
    terms : tuple of str
        Its words of the largest weights, the largest first.
    origins : tuple of (str, int)
        The given categories of its documents and how many are of each, the most frequent first.
    n_origins, n_ungiven : int
        The number of all these given categories, and how many documents had none.
    typical, unsure : tuple of DocumentView
        The documents that are most similar to it, and those for which the runner-up is nearest.

    Examples
    --------
    >>> from mustlink.report import CategorySummary
    >>> CategorySummary("sports", 12, 0.4, ("game", "team"), (("hockey", 7), ("baseball", 5)), 2, 0, (), ()).terms
    ('game', 'team')
    """

    name: str
    size: int
    share: float
    terms: tuple[str, ...]
    origins: tuple[tuple[str, int], ...]
    n_origins: int
    n_ungiven: int
    typical: tuple[DocumentView, ...]
    unsure: tuple[DocumentView, ...]


class GivenSummary(NamedTuple):
    """What became of a given category.

    Parameters
    ----------
    name : str
        What it is called.
    size : int
        The number of documents that were given with it.
    status : {"kept", "split", "merged", "killed"}
        As in :class:`mustlink.text.GivenCategory`.
    into : str
        The final category that it became; of one that was removed, that of most of its documents, if there is one.
    n_stayed, n_moved, n_none : int
        How many of these documents are in the category that it became, in another one, and in none. If it was removed,
        none has stayed.

    Examples
    --------
    >>> from mustlink.report import GivenSummary
    >>> print(GivenSummary("hockey", 40, "merged", "hockey + baseball", 36, 3, 1))
    merged into hockey + baseball
    """

    name: str
    size: int
    status: str
    into: str
    n_stayed: int
    n_moved: int
    n_none: int

    def __str__(self) -> str:
        if self.status == "merged":
            return f"merged into {self.into}"
        if self.status == "killed":
            return f"removed, most documents are in {self.into}" if self.into else "removed"
        return self.status if self.into == self.name else f"{self.status}, now {self.into}"


class MovedDocument(NamedTuple):
    """A document that is not in the category that its given one became.

    Parameters
    ----------
    name, title : str
        What it is called, and its title or how it begins.
    given, category : str
        Its given category, and the one it is in now.
    words, given_words : tuple of str
        Its words that add most to its cosine with the new category, and with the one that its given category became.
    margin : float
        By how much its cosine with its category is larger than that with the runner-up.
    excerpt : str, default=''
        More of its text.

    Examples
    --------
    >>> from mustlink.report import MovedDocument
    >>> print(MovedDocument("17", "Ice hockey", "space", "sports", ("ice", "goal"), ("launch",), 0.2))
    17, space -> sports: Ice hockey
    """

    name: str
    title: str
    given: str
    category: str
    words: tuple[str, ...]
    given_words: tuple[str, ...]
    margin: float
    excerpt: str = ""

    def __str__(self) -> str:
        return self.shorten(MAX_TITLE)

    def shorten(self, max_title: int) -> str:
        """Word the move with a short title.

        Parameters
        ----------
        max_title : int
            The most characters of the title.

        Returns
        -------
        str
        """
        title = f": {printable(self.title, max_title)}" if self.title else ""
        return f"{self.name}, {self.given} -> {self.category}{title}"


class FlowRow(NamedTuple):
    """Where the documents of a given category are now.

    Parameters
    ----------
    name : str
        The given category; empty for documents without one.
    counts : tuple of int
        How many of its documents are in each of the final categories of the table.
    shares : tuple of float
        The same as fractions of all its documents.

    Examples
    --------
    >>> from mustlink.report import FlowRow
    >>> FlowRow("hockey", (36, 4), (0.9, 0.1)).counts
    (36, 4)
    """

    name: str
    counts: tuple[int, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class TaxonomySummary:
    """What is shown of categories of documents.

    Parameters
    ----------
    n_documents : int
        The number of documents.
    n_given : int
        How many of them had a given category.
    n_none : int
        How many are in no category.
    n_moved, n_given_none : int
        How many of those with a given category are now in another one, and in none.
    categories : tuple of CategorySummary
        The final categories, the largest first.
    given : tuple of GivenSummary
        The given categories, in the order of their names.
    flow_names : tuple of str
        The final categories of the table of flows.
    flows : tuple of FlowRow
        The table of flows: given categories by final ones.
    moved : tuple of MovedDocument
        Documents that moved, up to a maximum number.
    notices : tuple of str
        What a person should know, as sentences.

    Examples
    --------
    See :func:`summarize_taxonomy`.
    """

    n_documents: int
    n_given: int
    n_none: int
    n_moved: int
    n_given_none: int
    categories: tuple[CategorySummary, ...]
    given: tuple[GivenSummary, ...]
    flow_names: tuple[str, ...]
    flows: tuple[FlowRow, ...]
    moved: tuple[MovedDocument, ...]
    notices: tuple[str, ...]

    @property
    def n_folded(self) -> int:
        """The number of small final categories that are one column of the table of flows."""
        n_columns = len(self.flow_names) - (self.n_none > 0)
        return 0 if n_columns == len(self.categories) else len(self.categories) - n_columns + 1

    @property
    def headline(self) -> str:
        """The result in a sentence."""
        text = f"{count(self.n_documents, 'document')} in {count(len(self.categories), 'category', 'categories')}"
        return f"{text}; {count(self.n_none, 'is', 'are')} in none." if self.n_none else f"{text}."

    @property
    def about_given(self) -> str:
        """What became of the given categories, in a sentence or two."""
        statuses = Counter(one.status for one in self.given)
        words = [f"{statuses[status]:,} {word}" for status, word in STATUSES.items() if statuses[status]]
        text = f"{count(len(self.given), 'given category', 'given categories')}: {', '.join(words)}."
        documents = count(self.n_given, "document with a given category", "documents with a given category")
        if not self.n_moved + self.n_given_none:
            return f"{text} No document moved of the {documents}."
        in_none = f", and {count(self.n_given_none, 'is', 'are')} in none" if self.n_given_none else ""
        return f"{text} Of the {documents}, {self.n_moved:,} moved to another one{in_none}."


def summarize_taxonomy(
    model: TaxonomyClusterer,
    X: Any,
    y: Any,
    *,
    terms: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    notices: Sequence[str] = (),
) -> TaxonomySummary:
    """Summarize the categories of documents.

    Parameters
    ----------
    model : TaxonomyClusterer
        The fitted clusterer.
    X : sparse matrix or array-like of shape (n_documents, n_terms)
        The counts to which it was fitted.
    y : array-like of shape (n_documents,)
        The given categories.
    terms : sequence of str or None, default=None
        The words of the columns of `X`; None takes those of the DataFrame of the fit, or column numbers.
    names : sequence of str or None, default=None
        What the documents are called; None numbers them from 0.
    titles : sequence of str or None, default=None
        What is shown of the documents; None is nothing.
    texts : sequence of str or None, default=None
        The whole texts, for the documents that moved.
    notices : sequence of str, default=()
        What a person should know, as sentences.

    Returns
    -------
    TaxonomySummary

    Examples
    --------
    >>> from mustlink.report import summarize_taxonomy
    >>> from mustlink.text import TaxonomyClusterer
    >>> X = [[9, 1, 0], [8, 2, 0], [0, 2, 9], [0, 3, 7], [0, 1, 5]]
    >>> y = ["music", "music", "sport", "sport", "music"]
    >>> model = TaxonomyClusterer(min_df=1, words_init=2, words_final=2, min_cluster_size=1, gini_drop=0).fit(X, y)
    >>> found = summarize_taxonomy(model, X, y, terms=["jazz", "the", "goal"])
    >>> print(found.headline)
    5 documents in 2 categories.
    >>> print(found.about_given)
    2 given categories: 2 kept. Of the 5 documents with a given category, 1 moved to another one.
    >>> print(found.moved[0])
    4, music -> sport
    """
    given = _given_names(y)
    shown = _Documents(model, X, given, terms, names, titles, texts)
    target = {str(one.name): _seed_of(one) for one in model.given_}
    targets = np.array([target.get(name, NOISE) for name in given])
    is_given = np.array([bool(name) for name in given])
    is_moved = is_given & (model.labels_ != NOISE) & (model.labels_ != targets)
    flow_names, flows = _flows(shown)
    return TaxonomySummary(
        n_documents=len(given),
        n_given=int(np.count_nonzero(is_given)),
        n_none=int(np.count_nonzero(model.labels_ == NOISE)),
        n_moved=int(np.count_nonzero(is_moved)),
        n_given_none=int(np.count_nonzero(is_given & (model.labels_ == NOISE))),
        categories=tuple(shown.describe(label) for label in shown.order),
        given=tuple(_describe_given(one, shown) for one in model.given_),
        flow_names=flow_names,
        flows=flows,
        moved=tuple(shown.describe_moved(row, int(targets[row])) for row in _surest(shown, np.flatnonzero(is_moved))),
        notices=tuple(notices),
    )


def _given_names(y: Any) -> list[str]:
    """Return the given category of each document as text, empty for none."""
    rows, codes, classes = known_rows(y)
    given = [""] * len(y)
    for row, code in zip(rows.tolist(), codes.tolist(), strict=True):
        given[row] = str(classes[code])
    return given


def _seed_of(given: GivenCategory) -> int:
    """Return the category that a given one became; none if it was removed."""
    return NOISE if given.status == "killed" or given.into is None else given.into


def _surest(shown: _Documents, moved: Ints) -> list[int]:
    """Return the documents that moved most surely, up to the maximum number, by their given categories."""
    surest = moved[np.argsort(-shown.ranks.margin[moved], kind="stable")[:MAX_MOVED]].tolist()
    return sorted(surest, key=lambda row: shown.given[row])


class DocumentRanks(NamedTuple):
    """How sure the category of each document is.

    Parameters
    ----------
    similarity : ndarray of shape (n_documents,)
        The cosine with its category; of a document in none, 0.
    runner_up : ndarray of int, shape (n_documents,)
        The best other category by the domination rule; -1 for none.
    margin : ndarray of shape (n_documents,)
        By how much the cosine with the category is larger than that with the runner-up.
    is_contested : ndarray of bool, shape (n_documents,)
        Whether the runner-up is the first by the domination rule.

    Examples
    --------
    See :func:`rank_documents`.
    """

    similarity: Floats
    runner_up: Ints
    margin: Floats
    is_contested: Mask


def rank_documents(model: TaxonomyClusterer, X: Any) -> DocumentRanks:
    """Return how sure the categories of the documents of the fit are.

    Parameters
    ----------
    model : TaxonomyClusterer
        The fitted clusterer.
    X : sparse matrix or array-like of shape (n_documents, n_terms)
        The counts to which it was fitted.

    Returns
    -------
    DocumentRanks

    Examples
    --------
    >>> from mustlink.report import rank_documents
    >>> from mustlink.text import TaxonomyClusterer
    >>> X, y = [[9, 1, 0], [8, 2, 0], [0, 2, 9], [0, 3, 7]], ["music", "music", "sport", "sport"]
    >>> model = TaxonomyClusterer(min_df=1, words_init=2, words_final=2, min_cluster_size=1, gini_drop=0).fit(X, y)
    >>> rank_documents(model, X).runner_up
    array([1, 1, 0, 0])
    """
    # Of all candidates, so that the category itself is among them.
    ranking = copy(model).set_params(n_report=model.n_candidates).rank(X)
    is_own = ranking.categories == model.labels_[:, None]
    is_other = (ranking.categories != NOISE) & ~is_own
    similarity = np.where(is_own, ranking.similarity, 0.0).max(axis=1) * (model.labels_ != NOISE)
    place = is_other.argmax(axis=1)[:, None]
    has_other = is_other.any(axis=1)
    runner_up = np.where(has_other, np.take_along_axis(ranking.categories, place, axis=1)[:, 0], NOISE)
    next_best = np.where(has_other, np.take_along_axis(ranking.similarity, place, axis=1)[:, 0], 0.0)
    is_contested = has_other & (place[:, 0] == 0) & (model.labels_ != NOISE)
    return DocumentRanks(similarity, runner_up, similarity - next_best, is_contested)


class _Documents:
    """Documents in categories, to be described."""

    def __init__(
        self,
        model: TaxonomyClusterer,
        X: Any,
        given: Sequence[str],
        terms: Sequence[str] | None,
        names: Sequence[str] | None,
        titles: Sequence[str] | None,
        texts: Sequence[str] | None,
    ) -> None:
        self.weights = model.weigh_documents(X)
        self.model = model
        self.given = given
        self.terms = terms if terms is not None else getattr(model, "feature_names_in_", range(self.weights.shape[1]))
        self.names = names
        self.titles = titles
        self.texts = texts
        self.ranks = rank_documents(model, X)
        self.best_terms = model.category_terms(self.terms, n_terms=MAX_TERMS)
        self.category_names = [printable(one.name) for one in model.categories_]
        sizes = np.array([len(one.rows) for one in model.categories_])
        # The largest first.
        self.order: list[int] = np.argsort(-sizes, kind="stable").tolist()

    def name(self, row: int) -> str:
        return str(row) if self.names is None else printable(self.names[row])

    def title(self, row: int) -> str:
        return "" if self.titles is None else printable(self.titles[row], MAX_TITLE)

    def category(self, label: int) -> str:
        """Return what a category is called; no category has no name."""
        return "" if label == NOISE else self.category_names[label]

    def view(self, row: int) -> DocumentView:
        """Describe a document."""
        ranks = self.ranks
        next_best = self.category(int(ranks.runner_up[row]))
        return DocumentView(self.name(row), self.title(row), float(ranks.similarity[row]), next_best)

    def describe(self, label: int) -> CategorySummary:
        """Describe a category."""
        category, ranks = self.model.categories_[label], self.ranks
        members = category.rows
        typical = members[np.argsort(-ranks.similarity[members], kind="stable")[:N_TYPICAL]]
        others = np.setdiff1d(members[ranks.runner_up[members] != NOISE], typical)
        unsure = others[np.argsort(ranks.margin[others], kind="stable")[:N_UNSURE]]
        origins = [(printable(str(name)), times) for name, times in category.composition.items()]
        return CategorySummary(
            self.category_names[label],
            len(members),
            len(members) / len(self.given),
            tuple(printable(str(term)) for term in self.best_terms[label]),
            tuple(origins[:MAX_ORIGINS]),
            len(origins),
            len(members) - sum(times for _, times in origins),
            tuple(self.view(row) for row in typical.tolist()),
            tuple(self.view(row) for row in unsure.tolist()),
        )

    def describe_moved(self, row: int, target: int) -> MovedDocument:
        """Describe a document that moved, from the category that its given one became."""
        label = int(self.model.labels_[row])
        return MovedDocument(
            self.name(row),
            self.title(row),
            printable(self.given[row]),
            self.category(label),
            self.words_for(row, label),
            () if target == NOISE else self.words_for(row, target),
            float(self.ranks.margin[row]),
            "" if self.texts is None else printable(" ".join(self.texts[row].split()), MAX_EXCERPT),
        )

    def words_for(self, row: int, label: int) -> tuple[str, ...]:
        """Return the words of a document that add most to its cosine with a category."""
        start, end = self.weights.indptr[row : row + 2]
        columns = self.weights.indices[start:end]
        weight = self.model.seeds_[[label]][:, columns].toarray()[0] * self.weights.data[start:end]
        best = np.argsort(-weight, kind="stable")[:MAX_WORDS]
        return tuple(printable(str(self.terms[columns[place]])) for place in best if weight[place] > 0)


def _describe_given(given: GivenCategory, shown: _Documents) -> GivenSummary:
    """Say what became of a given category."""
    seed = _seed_of(given)
    n_stayed = 0 if seed == NOISE else given.counts.get(seed, 0)
    n_moved = given.n_documents - given.n_outliers - n_stayed
    into = "" if given.into is None else shown.category(given.into)
    name = printable(str(given.name))
    return GivenSummary(name, given.n_documents, given.status, into, n_stayed, n_moved, given.n_outliers)


def _flows(shown: _Documents) -> tuple[tuple[str, ...], tuple[FlowRow, ...]]:
    """Count the documents of each given category in each final one; of many final ones the smallest are one column."""
    # Categories are numbered as the given ones they come from, so that most documents are on the diagonal.
    listed = sorted(shown.order if len(shown.order) <= MAX_FLOWS else shown.order[: MAX_FLOWS - 1])
    column = {label: place for place, label in enumerate(listed)}
    labels = shown.model.labels_
    names = [shown.category_names[label] for label in listed]
    names += [OTHERS] if len(listed) < len(shown.order) else []
    names += [NO_CATEGORY] if (labels == NOISE).any() else []
    # Documents without a given category come last.
    counts = {str(one.name): np.zeros(len(names), dtype=int) for one in shown.model.given_}
    counts[""] = np.zeros(len(names), dtype=int)
    for name, label in zip(shown.given, labels.tolist(), strict=True):
        counts[name][len(names) - 1 if label == NOISE else column.get(label, len(listed))] += 1
    rows = [
        FlowRow(printable(name), tuple(of_name.tolist()), tuple((of_name / of_name.sum()).tolist()))
        for name, of_name in counts.items()
        if of_name.any()
    ]
    return tuple(names), tuple(rows)
