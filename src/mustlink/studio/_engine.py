"""The engine of the studio: actions in, groups, links and confidences out; no table, no page, no file."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sklearn.utils import check_array

from mustlink._spelling import count
from mustlink._types import Floats, Ints
from mustlink.base import as_constraints
from mustlink.constraints import Constraints
from mustlink.errors import OptionError
from mustlink.studio._actions import (
    Action,
    Answer,
    Choose,
    Link,
    Lock,
    Move,
    Redo,
    Rename,
    Replace,
    Restore,
    Snapshot,
    Undo,
)
from mustlink.studio._changes import Change, Group, Layout, Shown, describe_absent, describe_gone
from mustlink.studio._conflicts import ActionRefused, DistanceRanks, chain_of, find_weakest, new_conflict
from mustlink.studio._correction import correct_labels
from mustlink.studio._fits import PackedFit
from mustlink.studio._group_ids import keep_locked, match_ids
from mustlink.studio._history import History, SavedState, Step, describe_step
from mustlink.studio._instant import InstantClusterer
from mustlink.studio._state import Given, LinksInForce, State, StudioLink, as_pair
from mustlink.studio._transitions import Scene, check_name, release_candidates, transition

__all__ = ["Engine"]


class Engine:
    """Interactive clustering: every action of a person changes the groups at once.

    A row that is dragged becomes pinned. Pinned rows nearer than `eps` to each other, directly or through others,
    belong together, and those of different places do not (desJardins, MacGlashan and Ferraioli). These links are
    derived again after every move, and hold together with those that are drawn, answered or read from a file.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data, scaled as distances should count.
    n_clusters : int or None, default=None
        The number of groups; None for as many as the person builds.
    known : Constraints or None, default=None
        Links that are known before, and can be removed.
    fixed : Constraints or None, default=None
        Links that always hold, such as those of columns of the table.
    eps : float, default=0.08
        The distance on the map, which reaches from -1 to 1, below which pinned rows belong together.
    method : str, default="auto"
        "instant" shows seeded single linkage. "auto" shows it as soon as there are enough linked rows, and with
        `n_clusters` only until the first result of another method is offered. From then on, the last result is shown,
        after an action with linked rows corrected, as for a clusterer of the catalogue.
    strategy : str, default="minmax"
        How questions are chosen; kept here with the other options.
    layout : SpringLayout or None, default=None
        A drawing that follows the pinned rows and the groups.
    random_state : int, default=0
        The seed.
    row_names : sequence of str or None, default=None
        The names of the rows in texts; by default their numbers.
    tree : bytes or None, default=None
        What :attr:`tree` was in an earlier engine of the same rows, which saves the time to compute it.
    waits_for_tree : bool, default=True
        Whether the first action that needs the tree of the rows waits until it is computed. If not, the instant groups
        are there only after :meth:`show_tree`.

    See Also
    --------
    Session : The same with a table, a file that keeps all actions, and questions.
    mustlink.hierarchy.SeededSingleLink : The instant clustering.

    Notes
    -----
    An action that contradicts earlier ones is refused with the chain of links that causes it (:class:`ActionRefused`).
    Its weakest link is the one that the data speak most against: a must-link by the rank of its distance among those of
    random pairs of rows, a cannot-link by one minus this rank. Links of columns and of locked groups, and those of the
    action itself, are not offered for removal. Links of the file that contradict each other from the beginning are no
    reason to refuse an action.

    The confidence of the instant clustering is the bottleneck margin: the longest step to the nearest other group minus
    that to the own one, over their sum. A move to a further place than there are groups raises `n_clusters`.

    Two additions to the source: rows that are dropped onto a row belong to its group, also if another place of this
    group has pinned rows; and without `n_clusters`, components of must-links alone begin no group, so that linking two
    rows of one group does not split it.

    All methods may be called from several threads; :meth:`apply` and :meth:`offer` wait for each other.

    Examples
    --------
    >>> from mustlink.studio import Engine, Link, Move, Undo
    >>> engine = Engine([[0.0], [1.0], [2.0], [7.0], [8.0]])
    >>> change = engine.apply(Link(0, 4, together=False))
    >>> engine.labels
    array([0, 0, 0, 1, 1])
    >>> change = engine.apply(Move((2,), 0.9, 0.9))
    >>> change = engine.apply(Move((4,), 0.9, 0.85))
    >>> engine.labels, engine.constraints
    (array([0, 0, 1, 1, 1]), Constraints(1 must-link, 1 cannot-link))
    >>> change = engine.apply(Undo())
    >>> engine.labels, [step.text for step in engine.history]
    (array([0, 0, 2, 1, 1]), ['Linked 0 and 4 as different', 'Moved 2'])
    """

    def __init__(
        self,
        X: Any,
        *,
        n_clusters: int | None = None,
        known: Constraints | None = None,
        fixed: Constraints | None = None,
        eps: float = 0.08,
        method: str = "auto",
        strategy: str = "minmax",
        layout: Layout | None = None,
        random_state: int = 0,
        row_names: Sequence[str] | None = None,
        tree: bytes | None = None,
        waits_for_tree: bool = True,
    ) -> None:
        self._X = check_array(X, dtype=(np.float64, np.float32), input_name="X")
        n_rows = len(self._X)
        self._given = Given(n_rows, as_constraints(known, n_rows), as_constraints(fixed, n_rows))
        self._names = row_names
        self._lock = threading.RLock()
        self._instant = InstantClusterer(self._X, random_state)
        self._ranks = DistanceRanks(self._X, random_state)
        if tree is not None:
            self._instant.load(tree)
        self._has_tree = waits_for_tree
        self._layout = layout
        self._revision = 0
        # Results are for all links from the first of these revisions on, and for the options from the second on; of
        # the third or an earlier one there is a result.
        self._fit_revision = 0
        self._options_revision = 0
        self._taken_revision = 0
        # While a session is opened, labels are not computed: the ids of groups are in its file.
        self._recorded_ids: tuple[int, ...] | None = None
        self._is_stale = False
        self._labels, self._confidence = np.full(n_rows, -1, dtype=np.int64), np.ones(n_rows)
        self._shown = Shown("instant", "instant", 0, "")
        self._history = History(State())
        options = Choose(n_clusters=n_clusters, method=method, strategy=strategy, eps=eps)
        try:
            first = transition(State(), options, "", self._scene)
        except ActionRefused as error:
            raise OptionError(error.problem) from None
        self._history.settle(first)
        self._force = LinksInForce(self._given, first)
        self._show(first, is_new=True)
        if layout is not None:
            layout.settle()

    # ---- what is shown -----------------------------------------------------------------------------------------------

    @property
    def labels(self) -> Ints:
        """The id of the group of every row, -1 for a row in no group; read-only."""
        return self._labels

    @property
    def confidence(self) -> Floats:
        """How certain the group of every row is, from 0 to 1; read-only."""
        return self._confidence

    @property
    def constraints(self) -> Constraints:
        """All links in force."""
        return self._force.constraints

    @property
    def given_constraints(self) -> Constraints:
        """The links in force but for those that always hold: of the file, of the person, of pins and of locks."""
        return self._force.removable

    @property
    def n_instant_clusters(self) -> int | None:
        """The number of groups of the instant clustering; None for as many as there are components of linked rows."""
        return self._force.n_instant_clusters

    @property
    def is_reduced(self) -> bool:
        """Whether the instant clustering is that of principal components, as of a large table with many columns."""
        return self._instant.is_reduced

    @property
    def links(self) -> tuple[StudioLink, ...]:
        """The links of the file, of the person and of pinned rows; those of locks and columns are in `constraints`."""
        return self._force.listed

    @property
    def positions(self) -> Floats | None:
        """The positions of the rows on the map; None without a layout."""
        return None if self._layout is None else self._layout.positions

    @property
    def layout(self) -> Layout | None:
        """The layout."""
        return self._layout

    @property
    def pins(self) -> dict[int, tuple[float, float]]:
        """The positions of the pinned rows."""
        return dict(self.state.pins)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, in the order of their ids."""
        names, locks = self.state.names, self.state.locks
        return tuple(
            Group(group, self._group_name(group), size, group in locks, group in names)
            for group, size in enumerate(np.bincount(self._labels[self._labels >= 0]).tolist())
            if size
        )

    @property
    def state(self) -> State:
        """All that was said so far, an immutable value."""
        return self._history.state

    @property
    def shown(self) -> Shown:
        """Which clustering is shown, and what it changed."""
        return self._shown

    @property
    def revision(self) -> int:
        """A number that grows with every change."""
        return self._revision

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return self._history.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is an undone step to repeat."""
        return self._history.can_redo

    @property
    def history(self) -> list[Step]:
        """The steps that led to the present state."""
        return self._history.steps

    @property
    def snapshots(self) -> tuple[SavedState, ...]:
        """The snapshots, in the order in which they were made."""
        return tuple(self._history.snapshots.values())

    def prepare(self) -> None:
        """Compute now what the first instant clustering needs; may be called in another thread."""
        self._instant.prepare()

    @property
    def is_waiting(self) -> bool:
        """Whether instant groups are to be shown by :meth:`show_tree`."""
        return self.state.awaits_tree

    @property
    def expects_fit(self) -> bool:
        """Whether a result of the background for the present links and options is expected."""
        return _is_background(self.state) and not self.state.is_final

    @property
    def tree(self) -> bytes | None:
        """The minimum spanning tree of the rows; None as long as it was not needed."""
        return self._instant.packed_tree

    # ---- what changes it ---------------------------------------------------------------------------------------------

    def apply(self, action: Action, *, when: str | None = None) -> Change:
        """Do what a person asks for.

        Parameters
        ----------
        action : Action
            The action.
        when : str or None, default=None
            The time, in ISO 8601; None is now.

        Returns
        -------
        Change
            What has changed.

        Raises
        ------
        ActionRefused
            If the action cannot be done, or contradicts earlier ones; nothing has changed then.
        """
        when = datetime.now(UTC).isoformat(timespec="milliseconds") if when is None else when
        with self._lock:
            if isinstance(action, Undo | Redo):
                return self._travel(action)
            if isinstance(action, Snapshot):
                return self._save(action, when)
            state, force = self._next_state(action, when)
            text = describe_step(action, self._row_name, self._group_name)
            self._history.add(state, text, when)
            return self._change(action, text, force, is_new=not isinstance(action, Restore))

    def offer(self, labels: Any, revision: int, *, method: str, confidence: Any = None) -> Change | None:
        """Show the result of a clusterer that ran in the background.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            The cluster of every row, -1 for none.
        revision : int
            The revision of the engine when the links were taken.
        method : str
            The name of the clusterer.
        confidence : array-like of shape (n_samples,), default=None
            How certain the label of every row is, from 0 to 1.

        Returns
        -------
        Change or None
            What has changed; None, and nothing has, if the method or the number of groups changed since that revision,
            or a later result is shown. If links changed since, linked rows are corrected, and the status stays
            "working".
        """
        labels = np.asarray(labels)
        if labels.shape != (self._given.n_rows,):
            n_rows = count(self._given.n_rows, "row")
            raise OptionError(f"Labels of shape {labels.shape} were offered for {n_rows}; give one label per row.")
        with self._lock:
            is_final = revision >= self._fit_revision
            is_late = revision < max(self._options_revision, self._taken_revision)
            if is_late or not _is_background(self.state) or (self.state.is_final and not is_final):
                return None
            self._taken_revision = revision
            given = None if confidence is None else np.asarray(confidence, dtype=np.float64)
            return self._take_fit(PackedFit.pack(method, labels, given), is_final)

    def _take_fit(self, fit: PackedFit, is_final: bool) -> Change:
        """Show the result of the background, for the present links or for earlier ones."""
        self._history.settle(replace(self.state, fit=fit, is_final=is_final))
        return self._change(None, f"Clustered by {fit.method}", self._force, is_new=True)

    def show_tree(self) -> Change | None:
        """Show the instant groups from now on, if actions do not wait for the tree; it is computed if it is not there.

        Returns
        -------
        Change or None
            What has changed; None if the tree is used already.
        """
        self.prepare()
        with self._lock:
            return None if self._has_tree else self._use_tree()

    def _use_tree(self) -> Change:
        """Show instant groups from now on."""
        self._has_tree = True
        if self.state.awaits_tree:
            return self._change(None, "Prepared the first groups", self._force, is_new=True)
        return Change(self._revision, None, "Prepared the instant groups", np.empty(0, dtype=np.int64), False)

    def _save(self, action: Snapshot, when: str) -> Change:
        """Keep a snapshot."""
        name = check_name(action.name, action)
        if name in self._history.snapshots:
            raise ActionRefused(f"There is a snapshot {name!r} already; choose another name.", action)
        self._history.save(name, when)
        self._revision += 1
        return Change(self._revision, action, f"Kept the snapshot {name}", np.empty(0, dtype=np.int64), False)

    def _next_state(self, action: Action, when: str) -> tuple[State, LinksInForce]:
        """Return the state after an action, with its links; raise if it is refused."""
        if isinstance(action, Restore):
            saved = self._history.snapshots.get(check_name(action.name, action))
            if saved is None:
                raise ActionRefused(f"There is no snapshot {action.name!r}.", action)
            return saved.state, LinksInForce(self._given, saved.state)
        if not isinstance(action, Replace):
            return self._checked(transition(self.state, action, when, self._scene), action, self._force)
        if isinstance(action.then, Replace | Undo | Redo | Snapshot | Restore):
            raise ActionRefused("Only an action that makes links can follow a removed link.", action)
        refusal = ActionRefused("There is no such link.", action)
        for without in release_candidates(self.state, action, self._scene):
            try:
                state = transition(without, action.then, when, self._scene)
                return self._checked(state, action.then, LinksInForce(self._given, without))
            except ActionRefused as error:
                refusal = error
        raise refusal

    def _checked(self, state: State, action: Action, before: LinksInForce) -> tuple[State, LinksInForce]:
        """Return a state with its links, or raise if they contradict each other more than those before."""
        force = LinksInForce(self._given, state)
        conflict = new_conflict(force, before)
        if conflict is None:
            return state, force
        chain = chain_of(conflict, force)
        moved = set(getattr(action, "rows", ()))
        own = {link for link in chain if link.source == "pin" and {link.a, link.b} & moved}
        if isinstance(action, Link | Answer):
            own |= {link for link in chain if link[:3] == (*as_pair(action.a, action.b), action.together)}
        single = {rows[0] for rows in state.pin_components if len(rows) == 1}
        weakest = find_weakest(chain, self._ranks, own, single)
        # Here links are called what they are called in the page.
        rows = " - ".join(self._row_name(row) for row in conflict.chain)
        a, b = (self._row_name(row) for row in conflict.cannot_link)
        through = f" through {rows}" if len(conflict.chain) > 2 else ""
        raise ActionRefused(
            f"This contradicts earlier links: {a} and {b} would be different, and the same{through}.",
            action,
            chain,
            weakest,
        )

    def _travel(self, action: Undo | Redo) -> Change:
        """Go one step back or forth."""
        by = -1 if isinstance(action, Undo) else 1
        if not (self.can_undo if by < 0 else self.can_redo):
            raise ActionRefused(f"There is nothing to {'undo' if by < 0 else 'redo'}.", action)
        text = f"Undid: {self.history[-1].text}" if by < 0 else ""
        self._history.move(by)
        text = text or f"Repeated: {self.history[-1].text}"
        return self._change(action, text, LinksInForce(self._given, self.state), is_new=False)

    def _change(self, action: Action | None, text: str, force: LinksInForce, *, is_new: bool) -> Change:
        """Show the present state, and tell what has changed.

        A new state may get other labels than it was made with; one that is restored has those that it had.
        """
        before, old_groups, old_number = self._labels, self.groups, self._force.options[0]
        is_other = action is not None and self._fits_other(force)
        has_other_options = self._force.options[:2] != force.options[:2]
        # Other rows to which the rows of a place are put.
        is_turned = self._force.anchors != force.anchors
        self._force = force
        self._revision += 1
        if is_other or (action is not None and not is_new):
            self._fit_revision = self._revision
        if has_other_options:
            self._options_revision = self._revision
        if is_new and is_other:
            self._history.settle(replace(self.state, is_final=False))
        if is_other or is_turned or not is_new or action is None:
            self._show(self.state, is_new=is_new, keeps_names=action is None)
        else:
            self._shown = self._describe_shown(self.state, self._shown.method, 0)
        if self._layout is not None:
            self._layout.pin(self.state.pins)
            self._layout.settle(self._labels if (self._labels >= 0).any() else None)
        rows = np.flatnonzero(self._labels != before)
        notices = (
            describe_absent(old_groups, self.state.absent) if action is None else describe_gone(old_groups, self.groups)
        )
        if isinstance(action, Move) and self.state.n_clusters != old_number:
            notices += (f"The number of groups is now {self.state.n_clusters}: a new place begins a group.",)
        return Change(self._revision, action, text, rows, is_other, notices)

    def _fits_other(self, force: LinksInForce) -> bool:
        """Return whether the background has to fit other links than before, or with other options."""
        options, now = self._force.options, force.options
        return options != now or self._force.constraints != force.constraints

    def _show(self, state: State, *, is_new: bool, keeps_names: bool = False) -> None:
        """Compute the groups of a state; those of a new state get their ids from the groups before.

        New groups has also an earlier state that is shown for the first time since the tree is there. What a person
        does may end a group and its name; what is computed (`keeps_names`) ends no name.
        """
        before = self._labels if keeps_names else None
        is_new = is_new or (state.awaits_tree and self._has_tree)
        if is_new:
            awaits_tree = not self._has_tree and not self._uses_fit(state) and self._has_seeds(state)
            state = replace(state, awaits_tree=awaits_tree)
        if self._recorded_ids is not None:
            self._is_stale = True
            if is_new:
                self._history.settle(_with_ids(state, self._recorded_ids, before))
            return
        labels, confidence, method = self._cluster(state)
        if is_new:
            state = _with_ids(state, match_ids(labels, self._labels, state.locks, state.absent), before)
            self._history.settle(state)
        if labels.max(initial=-1) >= len(state.ids):
            raise IndexError(f"there are {labels.max() + 1} groups, and ids of {len(state.ids)}")
        shown = np.array([*state.ids, -1], dtype=np.int64)[labels]
        n_changed = int(np.count_nonzero(shown != self._labels))
        for array in (shown, confidence):
            array.flags.writeable = False
        self._labels, self._confidence = shown, confidence
        self._shown = self._describe_shown(state, method, n_changed)

    def _cluster(self, state: State) -> tuple[Ints, Floats, str]:
        """Return the labels of a state, numbered from 0, their confidences, and the method they are from."""
        links, fit, n_clusters = self._force, state.fit, state.n_clusters
        if fit is not None and (self._uses_fit(state) or state.awaits_tree):
            # An earlier result is nearer to the next one than the instant clustering: measured on iris, wine and breast
            # cancer over 24 answers, 1 - ARI to it is .06, .04 and .19, and that of the instant one .40, .52 and 1.0.
            # A soft method may break links, but pinned rows are where the person has put them.
            kept = links.placed if state.is_final else links.constraints
            labels = correct_labels(fit.labels(), kept, self._X, state.anchors, n_clusters)
            return keep_locked(labels, state.locks), fit.confidence(), fit.method
        if self._has_seeds(state) and not state.awaits_tree:
            labels, confidence = self._instant.cluster(links.constraints, list(state.pins), links.n_instant_clusters)
            return labels, confidence, "instant"
        nothing = np.full(self._given.n_rows, -1, dtype=np.int64)
        return keep_locked(nothing, state.locks), np.ones(self._given.n_rows), "instant"

    @staticmethod
    def _uses_fit(state: State) -> bool:
        """Return whether a result of the background is shown."""
        return state.fit is not None and _is_background(state)

    def _has_seeds(self, state: State) -> bool:
        """Return whether there are enough linked rows for the instant clustering.

        Fewer groups than asked for are shown as well, but not by "auto", whose first result is there in a moment.
        """
        n_clusters, links = state.n_clusters, self._force
        if n_clusters is None:
            return links.n_seed_rows >= 2
        return links.n_seed_groups >= (max(2, n_clusters) if state.method == "auto" else 2)

    # ---- for sessions ------------------------------------------------------------------------------------------------

    def _replay(self, action: Action, when: str, ids: tuple[int, ...]) -> None:
        """Do an action again that was done before, with the ids that its groups had; :meth:`_refresh` shows it."""
        names_group = isinstance(action, Lock | Rename | Replace)
        if names_group or (isinstance(action, Move) and action.onto is not None):
            # These depend on the labels before.
            self._refresh()
        self._recorded_ids = ids
        try:
            self.apply(action, when=when)
        finally:
            self._recorded_ids = None

    def _replay_fit(self, fit: PackedFit, is_final: bool, ids: tuple[int, ...]) -> None:
        """Take a result of the background again."""
        self._refresh_for_names(ids)
        self._recorded_ids = ids
        try:
            self._take_fit(fit, is_final)
        finally:
            self._recorded_ids = None

    def _replay_tree(self, ids: tuple[int, ...]) -> None:
        """Show instant groups again from here on."""
        self._refresh_for_names(ids)
        self._recorded_ids = ids
        try:
            self._use_tree()
        finally:
            self._recorded_ids = None

    def _refresh_for_names(self, ids: tuple[int, ...]) -> None:
        """Show the present state if rows of named groups, which are gone afterwards, are to be kept."""
        if set(self.state.names) - set(self.state.absent) - set(ids):
            self._refresh()

    def _refresh(self) -> None:
        """Show the present state after actions that were done again."""
        if self._is_stale:
            self._is_stale = False
            self._show(self.state, is_new=False)

    def _remember(self) -> dict[str, Any]:
        """Return what is to be restored if an action cannot be saved."""
        return {**vars(self), "_history": self._history.copy()}

    def _restore(self, before: dict[str, Any]) -> None:
        """Take back an action that could not be saved."""
        vars(self).update(before)

    # ---- words -------------------------------------------------------------------------------------------------------

    @property
    def _scene(self) -> Scene:
        extent = 1.0 if self._layout is None else float(max(getattr(self._layout, "size", (1.0,))))
        return Scene(self._X, self._given, self._labels, extent, self._row_name, self._group_name)

    def _row_name(self, row: int) -> str:
        return str(row) if self._names is None else str(self._names[row])

    def _group_name(self, group: int) -> str:
        return self.state.names.get(group, f"Group {group + 1}")

    def _describe_shown(self, state: State, method: str, n_changed: int) -> Shown:
        """Tell which clustering is shown."""
        is_expected = _is_background(state)
        status = "instant"
        if self._uses_fit(state) and state.is_final:
            status = "final"
        elif is_expected or state.awaits_tree:
            status = "working"
        changed = f"; {count(n_changed, 'row')} changed" if n_changed else ""
        has_groups = bool((self._labels >= 0).any())
        if state.awaits_tree:
            shown = (
                f"Groups by {method}, with linked rows corrected{changed}; those" if has_groups else "The first groups"
            )
            text = f"{shown} along the links are being prepared"
        elif not has_groups:
            text = "No groups yet" + ("" if is_expected else ": link, answer or move rows of two groups")
        elif method == "instant":
            reduced = ", by 12 principal components" if self._instant.is_reduced else ""
            text = f"Instant groups along the links{reduced}{changed}"
        elif status == "final":
            text = f"Groups by {method}{changed}"
        else:
            text = f"Groups by {method} before the last change, with linked rows corrected{changed}"
        return Shown(method, status, n_changed, f"{text}.")


def _with_ids(state: State, ids: tuple[int, ...], before: Ints | None) -> State:
    """Return a state with the ids of its groups.

    Names of groups that are gone are dropped, unless `before`, the labels before, is given: then they wait for groups
    with most of the rows that they had.
    """
    absent = {group: rows for group, rows in state.absent.items() if group not in ids}
    if before is not None:
        gone = [group for group in state.names if group not in ids and group not in absent]
        absent |= {group: np.flatnonzero(before == group) for group in gone}
    names = {group: name for group, name in state.names.items() if group in ids or group in absent}
    return replace(state, ids=ids, names=names, absent=absent)


def _is_background(state: State) -> bool:
    """Return whether the background clusters: not without a number of groups, unless a method is named."""
    return state.method != "instant" and (state.method != "auto" or state.n_clusters is not None)
