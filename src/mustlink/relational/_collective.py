"""Collective relational clustering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mustlink._numbering import number_by_first
from mustlink._sklearn_compat import Interval, StrOptions, fit_context
from mustlink._types import Array, Ints
from mustlink.base import ConstrainedClusterMixin, as_constraints, check_partial_labels, check_sources
from mustlink.constraints import AlignedConstraints, Constraints
from mustlink.errors import OptionError
from mustlink.relational._apart import collect_sets, join_must_links
from mustlink.relational._arguments import check_canopy, check_count, check_number, check_row
from mustlink.relational._baselines import count_row_pairs, row_pairs
from mustlink.relational._bootstrap import bootstrap_pairs
from mustlink.relational._expansion import Resolution, expand, expand_by_name, match_query
from mustlink.relational._merging import LINKAGES, MEASURES, MERGE, Merging, Rule
from mustlink.relational._occurrences import names_nearby, read_groups, share_of_ambiguous_relations
from mustlink.relational._pair_merging import PairMerging
from mustlink.relational._problem import Problem, count_columns, count_rows, read_precomputed, read_problem
from mustlink.relational._threshold import choose_threshold, default_threshold, lowest_so_far

# Candidate pairs of rows are listed up to this number, and counted beyond.
MAX_LISTED = 1_000_000
BLOCKINGS = {"auto", "names", "key", "qgram", "names+qgram", "sorted", "canopy"}
SIMILARITIES = {"soft_tfidf", "tfidf"}
# Similarities are compared in steps of 2 ** -40.
ROUNDING = 1e-12
UNSURE = np.dtype([*MERGE.descr, ("merged", bool)])
CANDIDATE = np.dtype([("left", np.int64), ("right", np.int64), ("similarity", float)])


class CollectiveRelationalClustering(ConstrainedClusterMixin, BaseEstimator):
    """Collective relational clustering of records that occur together, for entity resolution.

    Which of the authors called W. Wang are the same person? Names alone do not say. Records also occur together: the
    authors of a paper, the people of a message, the articles of a basket. Two records with similar names are more
    likely one entity if the entities that they occur with are the same. Each merge of two clusters therefore changes
    the similarity of others, and the most similar clusters are merged first until none is as similar as a threshold.
    The number of clusters is found.

    Parameters
    ----------
    threshold : float, "auto" or "links", default="auto"
        The similarity from which on clusters are merged, from 0 to 1. "auto" is 0.8 of what equal names without a
        common neighbor reach, ``0.8 * (1 - alpha)``, or 0.8 for ``method="a*"``
        (:func:`~mustlink.relational.default_threshold`).
        "links" is the threshold that agrees with most of the given links in a run without them, that of "auto" if there
        are none. It is meant for links of pairs drawn at random from `candidates_`. Pairs drawn from all records say
        little, since most have no similarity at all, and the answers to :meth:`unsure` are all near the threshold.
    alpha : float, default=0.3
        The weight of the records that occur together; 1 - `alpha` is that of the attributes. Up to 0.44 equal company
        alone does not reach the threshold of "auto".
    method : {"cr", "a*", "nr*"}, default="cr"
        "cr" is collective relational clustering. The others decide pair by pair, and clusters are connected components:
        "a*" by attributes alone, "nr*" also by the names, not the entities, that two records occur with.
    similarity : {"soft_tfidf", "tfidf", "precomputed"} or list, default="soft_tfidf"
        How texts are compared: "soft_tfidf" for names, where similar words and initials count as well, and "tfidf" for
        fields with many values, such as keywords. A list has one of them for each column. With "precomputed", X holds
        similarities from 0 to 1, and pairs without one are no candidates.
    column_weights : array-like of shape (n_columns,), default=None
        The weight of each column in the mean over the columns that both records have; equal if None.
    word_threshold : float, default=0.9
        The Jaro-Winkler similarity above which two words of names are close.
    initial_score : float, default=0.95
        The similarity of a word and its initial.
    blocking : {"auto", "names", "key", "qgram", "names+qgram", "sorted", "canopy"} or callable, default="auto"
        Which pairs of distinct records are compared, by the first column. "names": names with one first initial and
        last names with similar q-grams. "key": last name and first initial are equal. "qgram": the Jaccard coefficient
        of the q-grams is at least `qgram_similarity`. "names+qgram": the pairs of both, of the second only those with
        an initial of the words before the last in common. "sorted": at most `window` - 1 places apart in the order of
        last names or of the texts read backward. "canopy": within a canopy of q-grams compared by TF-IDF. A function
        takes the text of a record and returns a key, a list of keys, or None. "auto" is "names+qgram" for names with
        initials, texts of at most four words in the median of which a tenth have a word of one letter, and else
        "qgram".
    qgram_size : int, default=3
        The number of letters of a q-gram.
    qgram_similarity : float, default=0.4
        The least Jaccard coefficient of the sets of q-grams, for "names", "qgram" and "names+qgram".
    window : int, default=10
        The number of records of the sorted neighborhood.
    canopy : (float, float), default=(0.3, 0.6)
        The loose and the tight similarity of a canopy: records loosely similar to a center are in its canopy, and
        those tightly similar to it are no centers.
    attribute_linkage : {"average", "max", "min", "representative"}, default="average"
        The attribute similarity of two clusters: the mean, maximum or minimum over pairs of records, or that of one
        record for each cluster. Pairs that are no candidates count as 0.
    relational_similarity : {"jaccard", "common", "degree", "ambiguity"}, default="jaccard"
        How the clusters that two clusters occur with are compared: by the Jaccard coefficient, by their number in
        common, up to `n_common`, or by a Jaccard coefficient where a cluster weighs less the more clusters it occurs
        with ("degree") or the more first names its last names have ("ambiguity").
    n_common : int, default=3
        The number of common neighbors that is enough for "common".
    second_neighbors : float, default=0.0
        The weight of the neighbors of neighbors, which are compared by the Jaccard coefficient.
    hyperedge_match : {"mean_best", "max", "assignment"}, default="mean_best"
        For ``method="nr*"``, how the records of two groups are compared: the mean over the best match of each, the best
        match of all, or the best one-to-one assignment divided by the larger number of records.
    bootstrap : bool, default=True
        Whether records that are one entity almost surely are joined at the start, see the notes.
    bootstrap_similarity : float, default=1.0
        The attribute similarity of such records.
    bootstrap_shared : int, default=2
        How many different names must occur with both of them, if their name is ambiguous.
    bootstrap_max_names : int, default=1
        A name is ambiguous if its last name occurs with more different first names than that, or if it has initials
        and no first name that they can stand for occurs.
    group_cannot_link : {"unequal", True, False}, default="unequal"
        Whether two records of a group are different entities: if their texts are not equal, always, or not
        necessarily. An author who is listed twice is more common than two of one name on one paper.
    max_per_source : int, default=1
        How many records of one source an entity may have, if `sources` are given.
    curve_to : float, default=None
        A lower threshold down to which merges are recorded, for :meth:`labels_at`; None if there is none.
    max_pairs : int, default=10_000_000
        The most candidate pairs; more are refused before they are listed.
    verbose : bool or int, default=False
        Whether a progress bar is shown.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The entity of every record, numbered in the order of their first records.
    n_clusters_ : int
        The number of entities.
    threshold_ : float
        The threshold.
    merges_ : structured array
        The merges in their order: `left` and `right`, the smallest row of each of the two clusters, `similarity`, and
        its parts `attribute` and `relational`. Similarities need not fall from merge to merge.
    bootstrap_labels_ : ndarray of shape (n_samples,)
        The clusters before the first merge, of must-links and of bootstrapping.
    candidates_ : structured array or int
        The pairs of records that were compared, with the fields `left`, `right` and `similarity`, that of the
        attributes, or with ``method="nr*"`` also of the groups; their number, if it is more than a million. Those from
        a threshold on are what methods A and NR, without a star, decide on.
    blocking_ : str or callable
        The blocking that was used.
    ambiguous_relations_ : float
        Of the pairs of names that occur together in several groups, the share that lead to an ambiguous name; NaN if
        there are none. Where it is high, relations can mislead, and a smaller `alpha` is safer.
    n_similarity_evaluations_ : int
        How many similarities of clusters were computed, those of all candidates at the start included.
    violations_ : Constraints
        The violated links; empty.

    Raises
    ------
    InfeasibleError
        If links contradict each other, or a must-link joins records of one group or source that may not be one entity.
    TooLargeError
        If blocking gives more than `max_pairs` candidate pairs.

    See Also
    --------
    CorrelationClustering : Clusters from signed evidence on pairs alone.

    Notes
    -----
    The similarity of two clusters is ``(1 - alpha) * attribute + alpha * relational`` [1]_ [2]_. The source leaves open
    how records become clusters with one attribute similarity (here the mean), which sure pairs bootstrapping joins, and
    how the formulas deal with both clusters as each other's neighbors (here left out). In SoftTF-IDF [3]_, the mean of
    both directions, a word of all records has a small weight instead of none, and equal texts have similarity 1.

    *Bootstrapping* joins records with equal names if the last name occurs with this first name only, or if
    `bootstrap_shared` different names occur with both, unless something keeps them apart. It needs texts. Initials
    alone are ambiguous: two of the chapter's C. Chen are different people, although no other Chen occurs.

    *Thresholds.* A run with a threshold stops at the first merge below it, and a merge can raise later similarities.
    The clusters at a threshold are therefore those of all merges before the first one below it, also of later ones
    above it, and the merges of a lower threshold begin with those of a higher one.

    Must-links are joined first; cannot-links, groups and sources are never broken. Records without a text are alone,
    unless a must-link joins them. Ties are broken by the order of the rows.

    References
    ----------
    .. [1] I. Bhattacharya and L. Getoor, "Collective entity resolution in relational data", ACM Transactions on
       Knowledge Discovery from Data 1, 2007.
    .. [2] I. Bhattacharya and L. Getoor, "Collective relational clustering", chapter 10 of "Constrained Clustering",
       2009.
    .. [3] M. Bilenko, R. Mooney, W. Cohen, P. Ravikumar and S. Fienberg, "Adaptive name matching in information
       integration", IEEE Intelligent Systems 18, 2003.

    Examples
    --------
    Four papers: in the first, second and fourth, the same W. Wang works with the same A. Ansari.

    >>> from mustlink import CollectiveRelationalClustering, Constraints
    >>> names = ["W. Wang", "C. Chen", "A. Ansari", "W. Wang", "A. Ansari", "L. Li", "C. Chen", "W. Wang",
    ...          "W. W. Wang", "A. Ansari"]
    >>> papers = [1, 1, 1, 2, 2, 3, 3, 3, 4, 4]
    >>> known = Constraints(must_link=[(2, 4), (2, 9)])
    >>> model = CollectiveRelationalClustering(0.6, alpha=0.5)
    >>> model.fit(names, groups=papers, constraints=known).labels_
    array([0, 1, 2, 0, 2, 3, 4, 5, 0, 2])
    """

    __metadata_request__fit = {"constraints": True, "groups": True, "sources": True}  # noqa: RUF012

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "threshold": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto", "links"})],
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "method": [StrOptions({"cr", "a*", "nr*"})],
        "similarity": [StrOptions({*SIMILARITIES, "precomputed"}), list, tuple],
        "column_weights": ["array-like", None],
        "word_threshold": [Interval(Real, 0, 1, closed="both")],
        "initial_score": [Interval(Real, 0, 1, closed="both")],
        "blocking": [StrOptions(BLOCKINGS), callable],
        "qgram_size": [Interval(Integral, 1, None, closed="left")],
        "qgram_similarity": [Interval(Real, 0, 1, closed="right")],
        "window": [Interval(Integral, 2, None, closed="left")],
        "canopy": [tuple, list],
        "attribute_linkage": [StrOptions(set(LINKAGES))],
        "relational_similarity": [StrOptions(set(MEASURES))],
        "n_common": [Interval(Integral, 1, None, closed="left")],
        "second_neighbors": [Interval(Real, 0, None, closed="left")],
        "hyperedge_match": [StrOptions({"mean_best", "max", "assignment"})],
        "bootstrap": ["boolean"],
        "bootstrap_similarity": [Interval(Real, 0, 1, closed="both")],
        "bootstrap_shared": [Interval(Integral, 1, None, closed="left")],
        "bootstrap_max_names": [Interval(Integral, 0, None, closed="left")],
        "group_cannot_link": ["boolean", StrOptions({"unequal"})],
        "max_per_source": [Interval(Integral, 1, None, closed="left")],
        "curve_to": [Interval(Real, 0, 1, closed="both"), None],
        "max_pairs": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        threshold: float | Literal["auto", "links"] = "auto",
        *,
        alpha: float = 0.3,
        method: Literal["cr", "a*", "nr*"] = "cr",
        similarity: str | Sequence[str] = "soft_tfidf",
        column_weights: ArrayLike | None = None,
        word_threshold: float = 0.9,
        initial_score: float = 0.95,
        blocking: str | Callable[[str], Any] = "auto",
        qgram_size: int = 3,
        qgram_similarity: float = 0.4,
        window: int = 10,
        canopy: tuple[float, float] = (0.3, 0.6),
        attribute_linkage: Literal["average", "max", "min", "representative"] = "average",
        relational_similarity: Literal["jaccard", "common", "degree", "ambiguity"] = "jaccard",
        n_common: int = 3,
        second_neighbors: float = 0.0,
        hyperedge_match: Literal["mean_best", "max", "assignment"] = "mean_best",
        bootstrap: bool = True,
        bootstrap_similarity: float = 1.0,
        bootstrap_shared: int = 2,
        bootstrap_max_names: int = 1,
        group_cannot_link: bool | Literal["unequal"] = "unequal",
        max_per_source: int = 1,
        curve_to: float | None = None,
        max_pairs: int = 10_000_000,
        verbose: bool | int = False,
    ) -> None:
        self.threshold = threshold
        self.alpha = alpha
        self.method = method
        self.similarity = similarity
        self.column_weights = column_weights
        self.word_threshold = word_threshold
        self.initial_score = initial_score
        self.blocking = blocking
        self.qgram_size = qgram_size
        self.qgram_similarity = qgram_similarity
        self.window = window
        self.canopy = canopy
        self.attribute_linkage = attribute_linkage
        self.relational_similarity = relational_similarity
        self.n_common = n_common
        self.second_neighbors = second_neighbors
        self.hyperedge_match = hyperedge_match
        self.bootstrap = bootstrap
        self.bootstrap_similarity = bootstrap_similarity
        self.bootstrap_shared = bootstrap_shared
        self.bootstrap_max_names = bootstrap_max_names
        self.group_cannot_link = group_cannot_link
        self.max_per_source = max_per_source
        self.curve_to = curve_to
        self.max_pairs = max_pairs
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        groups: Any = None,
        constraints: Constraints | AlignedConstraints | None = None,
        sources: Any = None,
    ) -> Self:
        """Find the entities of records.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_columns)
            Names, or a table of texts; None and NaN are no text. With ``similarity="precomputed"``, an array or sparse
            matrix of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,), default=None
            Entities of some records as an additional source of constraints; -1, None, NaN and empty text are unknown.
            Labels for every record are ignored.
        groups : array-like of shape (n_samples,), default=None
            The key of the group that each record occurs in, or a list of keys; None, NaN and empty text are none.
        constraints : Constraints or AlignedConstraints, default=None
            Must-links and cannot-links between records; none is broken.
        sources : array-like of shape (n_samples,), default=None
            The source of each record, of which an entity may have at most `max_per_source`; -1, None, NaN and empty
            text are none.

        Returns
        -------
        self : object
            The fitted clusterer.
        """
        self.__dict__.pop("labels_", None)
        problem, links, origin = self._read(X, y, groups, constraints, sources)
        self._input = problem, links, origin
        self.blocking_ = problem.blocking
        self.n_features_in_ = count_columns(X)
        self.threshold_ = self._threshold(problem, links, origin)
        start, run = self._start(problem, links, origin, self.threshold_)
        merges = run.merge_down(self.threshold_)
        self._remaining = run.remaining()
        if self.curve_to is not None and self.curve_to < self.threshold_:
            merges = np.concatenate([merges, run.merge_down(self.curve_to)])
        self.merges_, self._first_clusters = merges, start
        self.n_similarity_evaluations_ = run.n_evaluations
        self.bootstrap_labels_ = _number(start)
        self.candidates_ = self._list_candidates(problem, run)
        self.ambiguous_relations_ = float("nan")
        if problem.records is not None:
            is_ambiguous = problem.n_names > self.bootstrap_max_names
            self.ambiguous_relations_ = share_of_ambiguous_relations(problem.groups, problem.records, is_ambiguous)
        self.labels_ = self._labels_at(self.threshold_)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.violations_ = links.violations(self.labels_)
        return self

    def labels_at(self, threshold: float) -> Ints:
        """Return the entities at a higher threshold, or at one down to `curve_to`.

        Parameters
        ----------
        threshold : float
            The threshold.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels of a fit with this threshold: of all merges before the first one below it.
        """
        check_is_fitted(self)
        check_number(threshold, "threshold")
        lowest = self.threshold_ if self.curve_to is None else min(self.threshold_, self.curve_to)
        if threshold < lowest - ROUNDING:
            raise OptionError(
                f"The merges were recorded down to a threshold of {lowest:g}, and {threshold:g} is below",
                remedy="curve_to",
                threshold=threshold,
            )
        return self._labels_at(threshold)

    def unsure(self, n_pairs: int = 10) -> Array:
        """Return the decisions nearest the threshold, to ask a person about.

        Parameters
        ----------
        n_pairs : int, default=10
            The most pairs.

        Returns
        -------
        structured array
            At most one pair for every two clusters, the nearest first: `left` and `right`, the smallest row of each of
            them, their `similarity` with its parts `attribute` and `relational`, and whether they are `merged`. A pair
            that may not be merged is left out.
        """
        check_is_fitted(self)
        check_count(n_pairs, "n_pairs")
        done = self.merges_[lowest_so_far(self.merges_) >= self.threshold_ - ROUNDING]
        found = np.empty(len(done) + len(self._remaining), dtype=UNSURE)
        for name in ("left", "right", "similarity", "attribute", "relational"):
            found[name] = np.concatenate([done[name], self._remaining[name]])
        found["merged"] = np.arange(len(found)) < len(done)
        distance = np.abs(found["similarity"] - self.threshold_)
        order = np.lexsort((found["right"], found["left"], distance.round(9)))
        return found[order[:n_pairs]]

    def resolve(
        self,
        query: str | int,
        X: Any = None,
        *,
        groups: Any = None,
        constraints: Constraints | AlignedConstraints | None = None,
        sources: Any = None,
        depth: int = 1,
        max_frontier: int = 1_000,
    ) -> Resolution:
        """Find the entities of the records of one name only, together with the records nearby.

        Parameters
        ----------
        query : str or int
            A name that a record has, or the row of a record.
        X : array-like of shape (n_samples,) or (n_samples, n_columns), default=None
            The records, if the clusterer is not fitted; those of the fit if None.
        groups, constraints, sources : object, default=None
            As for :meth:`fit`, if X is given.
        depth : int, default=1
            How many times the records that occur with those found, and records with similar names, are added. Most of
            the gain is at 1.
        max_frontier : int, default=1000
            From how many records an expansion goes on at most, those with the rarest names.

        Returns
        -------
        Resolution
            The records with the name or one that is compared with it, and their entities.

        Notes
        -----
        The threshold is that of the fit, the given one, or that of "auto"; no links choose it.
        """
        check_count(depth, "depth")
        check_count(max_frontier, "max_frontier")
        if X is None:
            check_is_fitted(self)
            problem, links, origin = self._input
        else:
            self._validate_params()
            problem, links, origin = self._read(X, None, groups, constraints, sources)
        if isinstance(query, str):
            rows = match_query(problem, query)
        else:
            check_row(query)
            if not 0 <= query < problem.n_rows:
                raise ValueError(f"There is no row {query}; the records have the rows 0 to {problem.n_rows - 1:,}.")
            rows = expand_by_name(problem, np.array([query]))
        component = _labels_of(np.arange(problem.n_rows), links.must_link)
        near, n_records = expand(problem, component, rows, depth, max_frontier)
        number = np.full(problem.n_rows, -1)
        number[near] = np.arange(len(near))
        if origin is not None:
            kept = number[origin[0]] >= 0
            origin = number[origin[0][kept]], origin[1][kept]
        threshold = self.threshold_ if X is None else self._given_threshold()
        start, run = self._start(problem.take(near), links.on(problem.n_rows)[near].constraints, origin, threshold)
        labels = _labels_of(start, _merged_rows(run.merge_down(threshold)))
        return Resolution(rows, _number(labels[number[rows]]), n_records)

    def _read(
        self, X: Any, y: ArrayLike | None, groups: Any, constraints: Any, sources: Any
    ) -> tuple[Problem, Constraints, tuple[Ints, Ints] | None]:
        """Return the validated records, links and sources."""
        n_rows = count_rows(X)
        links = as_constraints(constraints, n_rows)
        labels = check_partial_labels(y, n_rows)
        if labels is not None:
            links = links.add(Constraints.from_labels(labels), contradictions="keep")
        occurs = read_groups(groups, n_rows, self.max_pairs)
        known = check_sources(sources, n_rows)
        origin = None if known is None else known[:2]
        if isinstance(self.similarity, str) and self.similarity == "precomputed":
            return read_precomputed(X, occurs), links, origin
        check_canopy(self.canopy)
        names = ("qgram_size", "qgram_similarity", "window", "canopy", "max_pairs")
        n_columns = count_columns(X)
        options = {
            "measures": self._measures(n_columns),
            "weights": self._column_weights(n_columns),
            "word_threshold": self.word_threshold,
            "initial_score": self.initial_score,
        }
        return (
            read_problem(X, occurs, self.blocking, {name: getattr(self, name) for name in names}, options),
            links,
            origin,
        )

    def _measures(self, n_columns: int) -> list[str]:
        """Return how the texts of each column are compared."""
        if isinstance(self.similarity, str):
            return [self.similarity] * n_columns
        measures = list(self.similarity)
        if len(measures) != n_columns or not set(measures) <= SIMILARITIES:
            raise OptionError(
                f"similarity must be one of {', '.join(map(repr, sorted(SIMILARITIES)))}, or a list of them with one "
                f"for each of the {n_columns} columns of X; got {measures!r}."
            )
        return measures

    def _column_weights(self, n_columns: int) -> Array:
        """Return the weight of each column."""
        if self.column_weights is None:
            return np.ones(n_columns)
        weights = np.asarray(self.column_weights, dtype=float)
        if weights.shape != (n_columns,) or not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise OptionError(
                f"column_weights must be numbers from 0 on, one for each of the {n_columns} columns of X and not all "
                f"0; got {self.column_weights!r}."
            )
        return weights

    def _given_threshold(self) -> float:
        """Return the threshold without a look at links."""
        if not isinstance(self.threshold, str):
            return float(self.threshold)
        return default_threshold(self.alpha, self.method)

    def _threshold(self, problem: Problem, links: Constraints, origin: Any) -> float:
        """Return the threshold, if asked for the one that agrees best with links in a run without them."""
        threshold = self._given_threshold()
        if self.threshold != "links" or links.is_empty:
            return threshold
        start, run = self._start(problem, Constraints(), origin, 0.0)
        return choose_threshold(run.merge_down(0.0), start, links, threshold)

    def _start(
        self, problem: Problem, links: Constraints, origin: Any, threshold: float
    ) -> tuple[Ints, Merging | PairMerging]:
        """Join must-linked and bootstrapped records, and return the clusters with what merges them."""
        groups = problem.groups if self.group_cannot_link else None
        alike = problem.code if self.group_cannot_link == "unequal" else None
        apart = collect_sets(links, groups, alike, origin, self.max_per_source, problem.n_rows)
        join_must_links(apart, links)
        if self.method != "cr":
            match = self.hyperedge_match if self.method == "nr*" else None
            return apart.clusters(), PairMerging(problem, apart, self.alpha, match, self.max_pairs)
        if self.bootstrap and problem.records is not None:
            pairs = bootstrap_pairs(
                problem,
                names_nearby(problem.groups, problem.records),
                problem.has_first_name & (problem.n_names <= self.bootstrap_max_names),
                similarity=self.bootstrap_similarity,
                n_shared=self.bootstrap_shared,
                max_pairs=self.max_pairs,
            )
            apart.join(*pairs)
        rule = Rule(
            self.alpha, self.attribute_linkage, self.relational_similarity, self.n_common, self.second_neighbors
        )
        # The clusters before the first merge, which changes them.
        return apart.clusters(), Merging(problem, apart, rule, self.max_pairs, threshold, self.verbose)

    def _list_candidates(self, problem: Problem, run: Merging | PairMerging) -> Array | int:
        """Return the pairs of records that were compared, or how many."""
        n_pairs = count_row_pairs(problem)
        if n_pairs > MAX_LISTED:
            return n_pairs
        left, right, similarity = row_pairs(problem, MAX_LISTED)
        found = np.empty(n_pairs, dtype=CANDIDATE)
        found["left"], found["right"] = left, right
        found["similarity"] = run.parts[0] if isinstance(run, PairMerging) else similarity
        return found

    def _labels_at(self, threshold: float) -> Ints:
        """Return the labels after all merges before the first one below a threshold."""
        n_merges = int(np.count_nonzero(lowest_so_far(self.merges_) >= threshold - ROUNDING))
        return _number(_labels_of(self._first_clusters, _merged_rows(self.merges_[:n_merges])))


def _labels_of(start: Ints, pairs: Array) -> Ints:
    """Return the clusters after pairs of rows are joined; `start` are those before, by their smallest rows."""
    n_rows = len(start)
    graph = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n_rows, n_rows))
    component: Ints = connected_components(graph, directed=False)[1]
    return component[start]


def _merged_rows(merges: Array) -> Ints:
    """Return the pairs of rows that stand for merged clusters."""
    return np.column_stack([merges["left"], merges["right"]])


def _number(cluster: Array) -> Ints:
    """Number clusters in the order of their first rows."""
    return number_by_first(cluster.astype(np.intp), int(cluster.max(initial=-1)) + 1)[0].astype(np.int64)
