"""A sitting in which a person criticizes clusters of texts, with every answer saved as it is given."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from mustlink._atomic import StagedFiles
from mustlink._spelling import count
from mustlink._types import Floats, Ints
from mustlink.errors import FileFormatError, OptionError
from mustlink.mixture import Feedback, FeedbackMixture
from mustlink.tables import check_output_suffix, stage_frame
from mustlink.workflow._json_lines import JsonLines
from mustlink.workflow._loading import check_n_clusters, check_seed
from mustlink.workflow._outputs import check_outputs
from mustlink.workflow._teaching_views import ClusterView, TeachingChange, TermChange, TextMove, TextView
from mustlink.workflow._texts import LoadedTexts

__all__ = ["Teaching"]

# What an answer costs that the clusters do not follow, in units of the log-likelihood: more than all words of most
# texts are worth.
PENALTY = 1000.0
MAX_TERMS = 8
MIN_SHOWN_CHANGE = 0.05
SENTENCES = {
    "must_link": "{t0} and {t1} should be in one cluster",
    "cannot_link": "{t0} and {t1} should be in different clusters",
    "belongs": "{t0} should be in {c0}",
    "not_belongs": "{t0} should not be in {c0}",
    "move": "{t0} should be in {c1}",
    "good": "{c0} should stay as it was",
    "bad": "{c0} should be broken up",
    "merge": "{c0} and {c1} should be one cluster",
    "apart": "{c0} and {c1} should stay apart",
    "different": "the clusters should be very different",
}


class Teaching:
    """Clusters of texts that a person criticizes, with every answer saved as it is given.

    An answer is on the disk when :meth:`answer` returns, so nothing is lost if the program is stopped; a new sitting
    with the same file repeats the answers and continues from there.

    Parameters
    ----------
    texts : LoadedTexts
        The texts.
    path : str or path-like
        The file of the answers, JSON lines. It is created with the first answer.
    n_clusters : int
        The number of clusters.
    random_state : int, default=0
        The seed.

    Attributes
    ----------
    path : Path
        The file.
    notices : list of str
        What the person should know of the texts and the file, as sentences.
    n_known : int
        How many answers the file had at the beginning.
    n_new : int
        How many answers were given since the texts were clustered last.

    See Also
    --------
    mustlink.mixture.FeedbackMixture : Clusters the texts.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.workflow import Teaching, TextOptions, load_texts
    >>> lines = ["ball red ball red", "ball red ball", "ball blue ball blue", "ball blue ball",
    ...          "cube red cube", "cube red cube red", "cube blue cube", "cube blue cube blue"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "toys.txt")
    ...     _ = path.write_text("\\n".join(lines))
    ...     teaching = Teaching(load_texts(TextOptions(path)), pathlib.Path(folder, "toys.jsonl"), n_clusters=2)
    ...     teaching.answer("cannot_link", ["0", "2"])
    ...     teaching.answer("must_link", ["0", "4"])
    ...     changed = teaching.refit()
    >>> teaching.clusters()[0].terms
    ('blue',)
    >>> [f"{move.text.name}: {move.before} to {move.after}" for move in changed.moved]
    ['0: A to B', '1: A to B', '6: B to A', '7: B to A']
    >>> changed.unsatisfied
    ()
    """

    def __init__(
        self, texts: LoadedTexts, path: str | os.PathLike[str], *, n_clusters: int, random_state: int = 0
    ) -> None:
        check_n_clusters(n_clusters)
        check_seed(random_state)
        if n_clusters > len(texts.rows):
            raise OptionError(
                f"{n_clusters:,} clusters cannot be made of the {count(len(texts.rows), 'text')} of {texts.source} "
                "with words that count",
                remedy="fewer_clusters",
            )
        self.path = Path(path)
        if self.path.resolve() == Path(texts.source).resolve():
            raise OptionError(f"{path} has the texts and would be overwritten; choose another name for the answers.")
        self._texts = texts
        self._place = {texts.names[row]: place for place, row in enumerate(texts.rows.tolist())}
        self._n_clusters, self._seed = n_clusters, random_state
        self._file = JsonLines(self.path)
        self.notices = list(texts.notices)
        if self._file.cut_off:
            self.notices.append(f"The last line of {self.path} was cut short and has been removed.")
        self._check_header()
        self._replay()
        self.n_known = len(self._answers())

    # ---- the file ------------------------------------------------------------------------------------------------

    def _header(self) -> dict[str, Any]:
        """Return what a file of answers is about."""
        return {"teach": self._n_clusters, "seed": self._seed, "texts": self._texts.digest}

    def _check_header(self) -> None:
        """Refuse a file of answers about other clusters."""
        if not self._file.records:
            return
        given = self._file.records[0]
        if "teach" not in given:
            raise FileFormatError(f"{self.path} is not a file of answers of mustlink teach; choose another file.")
        if given["teach"] != self._n_clusters:
            raise OptionError(
                f"The answers in {self.path} are about {given['teach']} clusters, not {self._n_clusters}",
                remedy="other_answers",
            )
        if given["seed"] != self._seed:
            raise OptionError(
                f"The answers in {self.path} are about clusters of the seed {given['seed']}, not {self._seed}",
                remedy="other_answers",
            )
        if given["texts"] != self._texts.digest:
            raise OptionError(
                f"The answers in {self.path} are about other texts than those of {self._texts.source}, or about other "
                "words",
                remedy="other_answers",
            )

    def _answers(self) -> list[dict[str, Any]]:
        """Return the answers of the file."""
        return [record for record in self._file.records if "kind" in record]

    def _replay(self) -> None:
        """Cluster the texts, and repeat all answers of the file."""
        self._model = FeedbackMixture(self._n_clusters, penalty=PENALTY, random_state=self._seed)
        self.n_new = 0
        differs = False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._model.fit(self._texts.counts)
            for number, record in enumerate(self._file.records[1:], start=2):
                if "kind" in record:
                    try:
                        self._model.feedback(self._feedback_of(record))
                    except (OptionError, ValueError) as error:
                        raise FileFormatError(f"{self.path}, line {number}: {error}") from None
                    self.n_new += 1
                elif "refit" in record:
                    self._model.refit()
                    self.n_new = 0
                    differs = differs or record["refit"] != self._labels_digest()
        if differs:
            self.notices.append(
                "The clusters differ from those of the earlier sitting, as of another version of a package; letters in "
                "earlier answers may stand for other clusters."
            )

    def _labels_digest(self) -> str:
        """Return a short number that other clusters do not have."""
        return hashlib.sha256(self._model.labels_.tobytes()).hexdigest()[:16]

    # ---- answers -------------------------------------------------------------------------------------------------

    def answer(self, kind: str, texts: Sequence[str] = (), clusters: Sequence[str] = ()) -> None:
        """Criticize the clusters, and save the answer.

        Parameters
        ----------
        kind : str
            A kind of :class:`mustlink.mixture.Feedback`.
        texts : sequence of str, default=()
            The names of the texts that it is about.
        clusters : sequence of str, default=()
            The letters of the clusters; of "move" the one that the text goes to.

        Raises
        ------
        OptionError
            If there is no such text or cluster.
        """
        letters = [letter.upper() for letter in clusters]
        if kind == "move" and len(texts) == len(letters) == 1:
            if letters[0] == self.letter_of(texts[0]):
                raise OptionError(f"The text {texts[0]} is in {letters[0]} already.")
            letters = [self.letter_of(texts[0]), *letters]
        record = {"kind": kind, "texts": list(texts), "clusters": letters}
        feedback = self._feedback_of(record)
        if not self._file.records:
            self._file.append(self._header())
        self._file.append(record)
        self._model.feedback(feedback)
        self.n_new += 1

    def _feedback_of(self, record: dict[str, Any]) -> Feedback:
        """Return the criticism of an answer."""
        rows = tuple(self._row_of(name) for name in record.get("texts", ()))
        clusters = tuple(self._number_of(letter) for letter in record.get("clusters", ()))
        try:
            return Feedback(record["kind"], rows, clusters)
        except ValueError:
            if len(set(rows)) < len(rows):
                raise OptionError(f"Two different texts are needed; got {record['texts'][0]} twice.") from None
            if len(set(clusters)) < len(clusters):
                raise OptionError(f"Two different clusters are needed; got {record['clusters'][0]} twice.") from None
            raise

    def _row_of(self, name: str) -> int:
        """Return the row of a text by its name."""
        if name in self._place:
            return self._place[name]
        if name in self._texts.names:
            raise OptionError(f"The text {name} has no word that counts, and is in no cluster.")
        names = self._texts.names
        raise OptionError(f"There is no text {name!r}; the texts are called {names[0]} to {names[-1]}.")

    def _number_of(self, letter: str) -> int:
        """Return the number of a cluster by its letter."""
        letters = [letter_of(number) for number in range(self._n_clusters)]
        if letter.upper() in letters:
            return letters.index(letter.upper())
        raise OptionError(f"There is no cluster {letter!r}; the clusters are {', '.join(letters)}.")

    @property
    def has_open_answers(self) -> bool:
        """Whether there is anything to cluster by: new answers, or some that are not followed and not given up."""
        return self.n_new > 0 or len(self._model.unsatisfied_) > len(self._model.given_up_)

    def refit(self) -> TeachingChange:
        """Cluster the texts again with all answers; without open answers nothing changes, nor is anything saved.

        Returns
        -------
        TeachingChange
            What changed.
        """
        if not self.has_open_answers:
            return TeachingChange((), (), (), self.unsatisfied())
        labels, weights = self._model.labels_.copy(), self._model.term_weights_.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._model.refit()
        self._file.append({"refit": self._labels_digest()})
        self.n_new = 0
        moved = tuple(
            TextMove(self._view(row), letter_of(labels[row]), letter_of(self._model.labels_[row]))
            for row in np.flatnonzero(labels != self._model.labels_).tolist()
        )
        return TeachingChange(moved, *self._changed_terms(weights), self.unsatisfied())

    def undo(self) -> str | None:
        """Take back the last answer, or the last time the texts were clustered again, also in the file.

        Returns
        -------
        str or None
            What was taken back, in words; None if there was nothing.
        """
        if len(self._file.records) < 2:
            return None
        last = self._file.records[-1]
        self._file.remove_last()
        self._replay()
        return self._sentence(self._feedback_of(last)) if "kind" in last else "the last go"

    # ---- what is shown -------------------------------------------------------------------------------------------

    @property
    def n_answers(self) -> int:
        """How many answers there are in all."""
        return len(self._answers())

    def letter_of(self, name: str) -> str:
        """Return the letter of a text's cluster.

        Parameters
        ----------
        name : str
            What the text is called.

        Returns
        -------
        str
        """
        return letter_of(int(self._model.labels_[self._row_of(name)]))

    def text_of(self, name: str) -> str:
        """Return the whole text.

        Parameters
        ----------
        name : str
            What the text is called.

        Returns
        -------
        str
        """
        return self._texts.texts[self._texts.rows[self._row_of(name)]]

    def clusters(self) -> list[ClusterView]:
        """Describe all clusters.

        Returns
        -------
        list of ClusterView
        """
        return [self.cluster(letter_of(number)) for number in range(self._n_clusters)]

    def cluster(self, letter: str) -> ClusterView:
        """Describe one cluster.

        Parameters
        ----------
        letter : str
            Its letter.

        Returns
        -------
        ClusterView
        """
        number = self._number_of(letter)
        members = np.flatnonzero(self._model.labels_ == number)
        order = np.argsort(-self._certainty()[members], kind="stable")
        telling = self._telling()[number]
        best = np.argsort(-telling, kind="stable")[:MAX_TERMS]
        terms = tuple(str(self._texts.terms[term]) for term in best if telling[term] > 0)
        return ClusterView(letter_of(number), len(members), terms, tuple(self._view(row) for row in members[order]))

    def unsatisfied(self) -> tuple[str, ...]:
        """Word the answers that the clusters do not follow.

        Returns
        -------
        tuple of str
            Sentences.
        """
        return tuple(self._sentence(item) for item in self._model.unsatisfied_)

    def term_weights(self) -> list[tuple[str, float]]:
        """Return all words with their weights, the heaviest first.

        Returns
        -------
        list of (str, float)
        """
        weights = self._model.term_weights_
        return [(str(self._texts.terms[term]), float(weights[term])) for term in np.argsort(-weights, kind="stable")]

    def write(self, output: str | os.PathLike[str]) -> None:
        """Write the cluster of every text.

        Parameters
        ----------
        output : str or path-like
            ``.csv``, ``.tsv``, ``.xlsx`` or ``.parquet``.
        """
        letters: list[str | None] = [None] * len(self._texts.texts)
        for place, row in enumerate(self._texts.rows.tolist()):
            letters[row] = letter_of(int(self._model.labels_[place]))
        frame = pd.DataFrame({self._texts.name_title: self._texts.names, "cluster": letters})
        frame["title"] = self._texts.titles
        with StagedFiles() as files:
            stage_frame(files, output, frame, source=self._texts.source, dialect=self._texts.dialect)

    def check_output(self, output: str | os.PathLike[str]) -> None:
        """Refuse an output that cannot be written or would overwrite an input.

        Parameters
        ----------
        output : str or path-like
            Where the clusters are to be written.
        """
        check_output_suffix(output, keep_columns=True)
        check_outputs([self._texts.source, self.path], {"clusters": output}, keep_columns=True)

    def _view(self, row: int) -> TextView:
        place = self._texts.rows[row]
        return TextView(self._texts.names[place], self._texts.titles[place])

    def _certainty(self) -> Floats:
        """Return by how much a word of each text on average favors its cluster over the second best."""
        logs = np.sort(self._model.predict_joint_log_proba(self._texts.counts), axis=1)
        ahead = logs[:, -1] - logs[:, -2] if logs.shape[1] > 1 else logs[:, -1]
        return np.asarray(ahead / np.asarray(self._texts.counts.sum(axis=1)).ravel())

    def _telling(self) -> Floats:
        """Return how much each word tells each cluster from all texts together."""
        members = np.eye(self._n_clusters)[self._model.labels_]
        sums = np.asarray((self._texts.counts.T @ members).T) + 0.01
        share = sums / sums.sum(axis=1, keepdims=True)
        whole = sums.sum(axis=0) / sums.sum()
        return np.asarray(self._model.term_weights_ * share * np.log(share / whole))

    def _changed_terms(self, before: Floats) -> tuple[tuple[TermChange, ...], tuple[TermChange, ...]]:
        """Return the words whose weight rose and fell most."""
        after = self._model.term_weights_
        change = np.log(after / before)
        order = np.argsort(-change, kind="stable")
        risen = [term for term in order[:MAX_TERMS] if change[term] > MIN_SHOWN_CHANGE]
        fallen = [term for term in order[::-1][:MAX_TERMS] if change[term] < -MIN_SHOWN_CHANGE]
        return self._term_changes(risen, before), self._term_changes(fallen, before)

    def _term_changes(self, terms: Sequence[int], before: Floats) -> tuple[TermChange, ...]:
        after, words = self._model.term_weights_, self._texts.terms
        return tuple(TermChange(str(words[term]), float(before[term]), float(after[term])) for term in terms)

    def _sentence(self, item: Feedback) -> str:
        """Word what was asked for."""
        names = {f"t{place}": self._view(row).name for place, row in enumerate(item.rows)}
        names |= {f"c{place}": letter_of(cluster) for place, cluster in enumerate(item.clusters)}
        return SENTENCES[item.kind].format(**names)


def letter_of(number: int | Ints) -> str:
    """Return the letter of a cluster: A to Z, then AA, AB, ..."""
    letters, number = "", int(number) + 1
    while number:
        number, place = divmod(number - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters
