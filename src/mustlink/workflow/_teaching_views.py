"""What a person sees of clusters of texts, and of what changed."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ClusterView", "TeachingChange", "TermChange", "TextMove", "TextView"]


@dataclass(frozen=True)
class TextView:
    """A text as it is shown.

    Parameters
    ----------
    name : str
        What it is called.
    title : str
        Its title, or how it begins.

    Examples
    --------
    >>> from mustlink.workflow import TextView
    >>> TextView("17", "Hockey results").name
    '17'
    """

    name: str
    title: str


@dataclass(frozen=True)
class ClusterView:
    """A cluster of texts as it is shown.

    Parameters
    ----------
    letter : str
        Its letter.
    size : int
        The number of its texts.
    terms : tuple of str
        The words that tell it from the others, the most telling first.
    typical : tuple of TextView
        Its texts, the most certain first.

    Examples
    --------
    >>> from mustlink.workflow import ClusterView, TextView
    >>> ClusterView("A", 1, ("hockey",), (TextView("17", "Hockey results"),)).size
    1
    """

    letter: str
    size: int
    terms: tuple[str, ...]
    typical: tuple[TextView, ...]


@dataclass(frozen=True)
class TextMove:
    """A text that changed its cluster.

    Parameters
    ----------
    text : TextView
        The text.
    before, after : str
        The letters of its clusters.

    Examples
    --------
    >>> from mustlink.workflow import TextMove, TextView
    >>> TextMove(TextView("17", "Hockey results"), "B", "A").after
    'A'
    """

    text: TextView
    before: str
    after: str


@dataclass(frozen=True)
class TermChange:
    """A word that counts more or less than before.

    Parameters
    ----------
    term : str
        The word.
    before, after : float
        Its weights; the mean over all words is 1.

    Examples
    --------
    >>> from mustlink.workflow import TermChange
    >>> TermChange("hockey", 1.0, 1.4).after
    1.4
    """

    term: str
    before: float
    after: float


@dataclass(frozen=True)
class TeachingChange:
    """What changed when the texts were clustered again.

    Parameters
    ----------
    moved : tuple of TextMove
        The texts that changed their cluster.
    risen, fallen : tuple of TermChange
        The words whose weight changed most.
    unsatisfied : tuple of str
        The answers that the clusters do not follow, as sentences.

    Examples
    --------
    >>> from mustlink.workflow import TeachingChange
    >>> TeachingChange((), (), (), ()).moved
    ()
    """

    moved: tuple[TextMove, ...]
    risen: tuple[TermChange, ...]
    fallen: tuple[TermChange, ...]
    unsatisfied: tuple[str, ...]
