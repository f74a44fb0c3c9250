"""A job from files to files: table and links in, clusters and a report out."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mustlink._atomic import StagedFiles
from mustlink._estimators import count_parameter
from mustlink._spelling import count
from mustlink._types import Ints
from mustlink.base import collect_links, refuse_contradictions
from mustlink.catalogue import DEFAULT_METHOD, ESTIMATORS, Entry, default_methods, find_clusterer
from mustlink.constraints import Constraints
from mustlink.errors import ConstraintError, InfeasibleError, OptionError
from mustlink.report import RowNames, Summary, summarize, write_report
from mustlink.selection import Choice, Trial, choose
from mustlink.tables import UnknownIds, require
from mustlink.workflow._blocked_output import count_moved, write_blocked
from mustlink.workflow._blocked_table import BlockedTable, load_blocked
from mustlink.workflow._clusterer import build_clusterer
from mustlink.workflow._in_blocks import decide_blocks
from mustlink.workflow._loading import (
    REMEDIES,
    Contradictions,
    LoadedTable,
    TableOptions,
    check_n_clusters,
    check_seed,
    job_remedies,
    load_table,
)
from mustlink.workflow._model import Model, check_predicts, stage_model
from mustlink.workflow._naming import name_rows, with_row_names
from mustlink.workflow._outputs import check_output_size, check_outputs, number_without_gaps, stage_labels
from mustlink.workflow._wording import reword_warnings

__all__ = ["Job", "JobResult", "reads_in_blocks", "run_job"]

AUTO = "auto"
CERTAIN = "certain"
# The method of a job with sizes that names none, and what is said of it.
SIZED_METHOD = "sizes"
# The method of a job with columns of groups that names none: a rule is to be kept.
RULED_METHOD = "cop"
RULED_NOTE = (
    f"The method is {RULED_METHOD}, k-means that keeps every link; {DEFAULT_METHOD}, the default, may break some."
)
SIZED_NOTE = f"The method is {SIZED_METHOD}, k-means with sizes; {DEFAULT_METHOD}, the default, keeps to no sizes."
# The method of a job with a graph that names none.
GRAPH_METHOD = "connected-kmeans"
GRAPH_NOTE = (
    f"The method is {GRAPH_METHOD}, k-means with connected clusters; {DEFAULT_METHOD}, the default, takes no graph."
)
# What the parameters of the sizes are called.
SIZE_NAMES = {"size_min": "minimum", "size_max": "maximum"}


@dataclass(frozen=True)
class Job(TableOptions):
    """What to cluster, how, and where the results go.

    Takes the parameters of :class:`TableOptions` and those below; `table` and `links` may be given by position.

    Parameters
    ----------
    links : str, path-like or None, default=None
        The file of links, as :meth:`mustlink.Constraints.read` reads it. Refused by methods that take no links, and
        so are `never_together` and `always_together`.
    n_clusters : int or None, default=None
        The number of clusters. Not needed by methods that find the number, and by "auto".
    method : str, default="boost"
        A clusterer of the catalogue, by its short name or the name of its class, or "auto" for the one that best
        predicts held-out links. With `never_together` or `always_together`, the default becomes "cop",
        :class:`mustlink.COPKMeans`, which keeps every link.
    estimator : str or None, default=None
        The clusterer to boost, by name; None is the method's own default. The method "boost" also takes "auto", its
        default, which mixes several.
    links_are : {"estimated", "certain"}, default="estimated"
        How far the method "boost" trusts links: it estimates which are wrong, or keeps all of them. Methods that cannot
        choose refuse "certain".
    random_state : int or None, default=0
        The seed. The same seed gives the same clusters; None gives others each time.
    n_init : int or None, default=None
        The number of starts of methods that take the best of several; None is 10. Other methods refuse a number.
    contradictions : {"raise", "majority", "keep"}, default="raise"
        What to do with a pair linked both ways: refuse it, keep the heavier side, or keep both as a conflict.
    unknown_ids : {"raise", "skip"}, default="raise"
        What to do with a link that names an id which the table does not have: refuse it, or skip it.
    size_min, size_max : int or None, default=None
        The minimum and the maximum number of rows of a cluster; None is no bound. With the default method, they choose
        "sizes", :class:`mustlink.SizeConstrainedKMeans`; other methods that keep to no sizes refuse them.
    graph : str, path-like or None, default=None
        The file of edges between rows, as :func:`mustlink.tables.read_edges` reads it, for a method with connected
        clusters. With the default method, it chooses "connected-kmeans", :class:`mustlink.ConnectedKMeans`; methods
        that take no graph refuse it, and those that take one need it.
    relax : bool, default=False
        Whether a hard method that cannot satisfy every link returns the best clustering it found.
    output : str, path-like or None, default=None
        Where the clusters are written, as .csv, .tsv, .xlsx, .parquet or .npy; None writes none. Text is written with
        the encoding and, in .csv, the separator of the table.
    keep_columns : bool, default=False
        Whether `output` has all columns of the table, with the cluster as one more.
    report : str, path-like or None, default=None
        Where the HTML report is written; None writes none.
    save_model : str, path-like or None, default=None
        Where the model is written that puts new rows into the same clusters, for a method that can predict; None
        writes none. Needs the extra ``model``.
    in_blocks : bool or None, default=None
        Whether the table, ``.parquet``, a folder of ``.parquet`` files or ``.npy``, is read in blocks, for tables that
        are larger than memory and methods that take blocks. None does so if the table would take more than a quarter of
        the available memory.

    See Also
    --------
    run_job : Run a job.

    Examples
    --------
    >>> from mustlink.workflow import Job
    >>> Job("customers.csv", "links.csv", n_clusters=3, id_column="customer").method
    'boost'
    """

    links: str | os.PathLike[str] | None = None
    _: KW_ONLY
    n_clusters: int | None = None
    method: str = DEFAULT_METHOD
    estimator: str | None = None
    links_are: Literal["estimated", "certain"] = "estimated"
    random_state: int | None = 0
    n_init: int | None = None
    contradictions: Contradictions = "raise"
    unknown_ids: UnknownIds = "raise"
    size_min: int | None = None
    size_max: int | None = None
    graph: str | os.PathLike[str] | None = None
    relax: bool = False
    output: str | os.PathLike[str] | None = None
    keep_columns: bool = False
    report: str | os.PathLike[str] | None = None
    save_model: str | os.PathLike[str] | None = None
    in_blocks: bool | None = None

    @property
    def is_auto(self) -> bool:
        """Whether the method is chosen by held-out links."""
        return self.method.lower() == AUTO

    @property
    def has_certain_links(self) -> bool:
        """Whether all links are to be kept."""
        return self.links_are == CERTAIN

    @property
    def has_rules(self) -> bool:
        """Whether rows are linked by columns of groups."""
        return bool(self.never_together or self.always_together)

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes that are given, by the names of their parameters."""
        return {name: getattr(self, name) for name in SIZE_NAMES if getattr(self, name) is not None}


@dataclass(frozen=True)
class JobResult:
    """What a job found.

    Parameters
    ----------
    job : Job
        What was done.
    table : LoadedTable or BlockedTable
        The table.
    links : Constraints
        The links of the file, between the kept rows.
    labels : ndarray of int, shape (n_kept,)
        The cluster of each kept row, numbered from 0 without gaps; -1 is no cluster. A memory map if the table was read
        in blocks.
    estimator : object
        The fitted clusterer.
    entry : Entry
        Its entry in the catalogue.
    summary : Summary
        What is shown of the clustering.
    choice : Choice or None
        What was tried, for the method "auto".

    Examples
    --------
    >>> from mustlink.datasets import sample_paths
    >>> from mustlink.workflow import Job, run_job
    >>> table, links = sample_paths()
    >>> result = run_job(Job(table, links, n_clusters=3, id_column="customer", method="pck"))
    >>> type(result.estimator).__name__, result.labels.shape
    ('PCKMeans', (240,))
    """

    job: Job
    table: LoadedTable | BlockedTable
    links: Constraints
    labels: Ints
    estimator: Any
    entry: Entry
    summary: Summary
    choice: Choice | None = None

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()


@job_remedies()
def run_job(
    job: Job,
    *,
    command: str | None = None,
    verbose: bool = False,
    remedies: Mapping[str, str] = REMEDIES,
    is_method_given: bool = False,
) -> JobResult:
    """Cluster a table and write the results.

    Output files are checked before the work begins and appear at the end, all of them or none.

    Parameters
    ----------
    job : Job
        What to do.
    command : str or None, default=None
        What the user typed to start the job, shown in the report.
    verbose : bool, default=False
        Whether to show a progress bar while the method "auto" tries clusterers, and while a table is read in blocks.
    remedies : mapping of str to str, default=the words of a job
        What the notes say to do, by the keys of :data:`mustlink.errors.REMEDIES`, for a user interface with its own
        words.
    is_method_given : bool, default=False
        Whether the user asked for the method of the job by name. If not, sizes replace the default one by "sizes".

    Returns
    -------
    JobResult
        The clustering, the fitted clusterer and a summary.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.datasets import sample_paths
    >>> from mustlink.report import headline
    >>> from mustlink.workflow import Job, run_job
    >>> table, links = sample_paths()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     output = pathlib.Path(folder, "clusters.csv")
    ...     result = run_job(Job(table, links, n_clusters=3, id_column="customer", output=output))
    ...     print(output.read_text().splitlines()[:2])
    ['customer,cluster', 'C001,...']
    >>> print(headline(result.summary))
    240 rows in 3 clusters. All 40 links kept.
    """
    if not isinstance(job, Job):
        raise TypeError(f"run_job takes a Job, and this is a {type(job).__name__}.")
    chosen = _choose_method(job, is_method_given)
    if chosen is not None:
        job = replace(job, method=chosen[0])
    entry = None if job.is_auto else find_clusterer(job.method)
    _check_options(job, entry)
    outputs = {"clusters": job.output, "report": job.report, "model": job.save_model}
    check_outputs([job.table, job.links, job.graph], outputs, keep_columns=job.keep_columns)
    in_blocks, about_blocks = decide_blocks(job, entry)
    table = load_blocked(job, verbose=verbose) if in_blocks else load_table(job)
    check_output_size(job.output, table, keep_columns=job.keep_columns)
    if job.n_clusters is not None:
        check_n_clusters(job.n_clusters, table)
    if entry is not None and not entry.takes_links and table.partial_labels is not None:
        raise OptionError(
            f"The method {entry.name} takes no links, and so no labels of some rows, as in the column "
            f"{job.label_column!r}",
            remedy=("no_labels", "linked_method"),
        )
    links, notices = table.rules, [*about_blocks, *([] if chosen is None else [chosen[1]])]
    if job.links is not None:
        given, about_links = table.read_links(job.links, job.contradictions, job.unknown_ids)
        notices += about_links
        links = table.add_rules(given, job.contradictions)
    elif isinstance(table, BlockedTable):
        table.check_ids()
    graph = None
    left_out: list[str] = []
    if job.graph is not None and isinstance(table, LoadedTable):
        graph, about_graph, left_out = table.read_graph(job.graph, job.unknown_ids)
        notices += about_graph
    known = collect_links(links, table.partial_labels, table.X)
    if entry is None and known.is_empty:
        raise _no_links_to_choose_by(job, table)
    if entry is not None and entry.kind == "hard" and not job.relax:
        soft = "soft_mixture" if entry.family == "mixture" else "soft_method"
        refuse_contradictions(known, RowNames(table.row_names), soft=soft)
    notices += _label_notices(links, known, RowNames(table.row_names))
    try:
        estimator, choice, warned = _fit(job, entry, table, links, graph, verbose, remedies)
    except (ConstraintError, InfeasibleError) as error:
        named = with_row_names(error, table.row_names)
        raise named.with_problem(" ".join([*left_out, named.problem])) from None
    fitted = estimator.labels_
    labels = table.take_labels(fitted) if isinstance(table, BlockedTable) else number_without_gaps(fitted)
    entry = find_clusterer(type(estimator).__name__)
    model = None if job.save_model is None else Model.of_fit(job, table, estimator)
    notices += _radius_notices(job, estimator)
    notices = [*table.notices, *notices, *warned, *table.describe_broken_rules(labels)]
    if model is not None:
        has_links = not known.is_empty
        # Without links, a method that takes sizes differs by them, even where the job gives none.
        has_sizes = bool(job.sizes) or (not has_links and "size_min" in estimator.get_params())
        n_other = _count_moved(model, table, labels, estimator)
        notices += _model_notices(n_other, has_links=has_links, has_sizes=has_sizes)
    summary = _write(job, command, table, links, labels, estimator, choice, model, notices)
    return JobResult(job, table, links, labels, estimator, entry, summary, choice)


@job_remedies()
def reads_in_blocks(job: Job, *, is_method_given: bool = False) -> bool:
    """Return whether a job reads its table in blocks, by its size or as it was asked to.

    Parameters
    ----------
    job : Job
        The job.
    is_method_given : bool, default=False
        As for :func:`run_job`.

    Returns
    -------
    bool

    Examples
    --------
    >>> from mustlink.workflow import Job, reads_in_blocks
    >>> reads_in_blocks(Job("customers.csv", n_clusters=3))
    False
    """
    chosen = _choose_method(job, is_method_given)
    job = job if chosen is None else replace(job, method=chosen[0])
    return decide_blocks(job, None if job.is_auto else find_clusterer(job.method))[0]


def _choose_method(job: Job, is_method_given: bool) -> tuple[str, str] | None:
    """Return the method that options ask for, with a note on it, if the user has not named one."""
    return None if is_method_given or job.method != DEFAULT_METHOD else _method_of_options(job)


def _method_of_options(job: Job) -> tuple[str, str] | None:
    """Return the method that sizes, a graph or columns of groups ask for, with a note on it, if the job names none."""
    if job.sizes:
        return SIZED_METHOD, SIZED_NOTE
    if job.graph is not None:
        return GRAPH_METHOD, GRAPH_NOTE
    # The default method keeps links that are certain.
    return (RULED_METHOD, RULED_NOTE) if job.has_rules and not job.has_certain_links else None


def _no_links_to_choose_by(job: Job, table: LoadedTable | BlockedTable) -> OptionError:
    """Return the error for the method "auto" without links."""
    if table.is_labeled:
        return OptionError(
            f"The method auto chooses by links, and labels for every row, as in the column {job.label_column!r}, are "
            "not used as links",
            remedy=("empty_labels", "add_links"),
        )
    return OptionError(f"The method auto chooses by links, and {job.links or job.table} has none", remedy="give_links")


def _check_options(job: Job, entry: Entry | None) -> None:
    """Refuse options that cannot be or do not go together, before anything is read."""
    if job.estimator is not None:
        if entry is None:
            raise OptionError(f"The method auto cannot be combined with a clusterer to boost ({job.estimator!r}).")
        _boosted_estimator(job.estimator, entry)
    if job.save_model is not None:
        require("skops", job.save_model, "writing models", "model")
        if entry is not None:
            check_predicts(entry)
    if job.n_init is not None and job.n_init < 1:
        raise OptionError(f"The number of starts is {job.n_init}", remedy="n_init_from_1")
    _check_sizes(job, entry)
    _check_certain(job, entry)
    _check_graph(job, entry)
    if entry is not None:
        _check_parameters(job, entry)
    check_seed(job.random_state)
    if job.n_clusters is not None:
        check_n_clusters(job.n_clusters)
    elif entry is not None and count_parameter(entry.load()()) is not None:
        other = ("choose_auto",) if entry.takes_links else ()
        raise OptionError(f"The method {entry.name} needs the number of clusters", remedy=("give_n_clusters", *other))
    elif entry is None and job.links is None and job.label_column is None and not job.has_rules:
        raise OptionError("The method auto chooses by links, and there are none", remedy="give_links")


def _check_sizes(job: Job, entry: Entry | None) -> None:
    """Refuse sizes that are invalid, or for a method that does not keep to them."""
    known = set() if entry is None else set(SIZE_NAMES) & set(entry.load()().get_params())
    for parameter, size in job.sizes.items():
        name = SIZE_NAMES[parameter]
        if size < 0:
            raise OptionError(f"The {name} size is {size}", remedy="sizes_from_0")
        if parameter not in known:
            missing = f"no {name} size" if known else "no sizes"
            raise OptionError(f"The method {job.method.lower()} keeps to {missing}", remedy="sized_method")


def _check_certain(job: Job, entry: Entry | None) -> None:
    """Refuse certain links for a method that cannot choose whether to keep all of them."""
    if not job.has_certain_links:
        return
    if entry is None:
        raise OptionError("The method auto also tries methods that may break links", remedy="certain_method")
    if "trust" in entry.load()().get_params():
        return
    if not entry.takes_links:
        raise OptionError(f"The method {entry.name} takes no links that it could keep", remedy="not_certain")
    if entry.kind == "hard":
        raise OptionError(f"The method {entry.name} keeps all links anyway", remedy="not_certain")
    raise OptionError(f"The method {entry.name} is soft and may break links in any case", remedy="certain_method")


def _check_graph(job: Job, entry: Entry | None) -> None:
    """Refuse a graph for a method that takes none, and none for one that is about it."""
    takes_graph = entry is not None and entry.takes_graph
    name = job.method.lower() if entry is None else entry.name
    if job.graph is not None and not takes_graph:
        raise OptionError(
            f"The method {name} takes no graph, and {job.graph} was given", remedy=("no_graph", "graph_method")
        )
    if job.graph is None and takes_graph:
        raise OptionError(f"The method {name} makes clusters that are connected in a graph", remedy="give_graph")


def _check_parameters(job: Job, entry: Entry) -> None:
    """Refuse options for a parameter that the method does not have."""
    known = entry.load()().get_params()
    if job.links is not None and not entry.takes_links:
        raise OptionError(
            f"The method {entry.name} takes no links, and {job.links} was given", remedy=("no_links", "linked_method")
        )
    if job.has_rules and not entry.takes_links:
        raise OptionError(
            f"The method {entry.name} takes no links, and so no columns of groups", remedy=("no_rules", "linked_method")
        )
    if job.relax and not entry.takes_links:
        raise OptionError(f"The method {entry.name} takes no links that it could break", remedy="not_relaxed")
    if job.relax and "on_infeasible" not in known:
        raise OptionError(f"The method {entry.name} is soft and may break links in any case", remedy="not_relaxed")
    if job.n_init is not None and "n_init" not in known:
        raise OptionError(
            f"The method {entry.name} has no starts to choose from, and {job.n_init} were asked for", remedy="no_starts"
        )


def _label_notices(links: Constraints, with_labels: Constraints, names: RowNames) -> list[str]:
    """Note contradictions that only the labels bring in; those among links alone are in the summary anyway."""
    among_links = {conflict.cannot_link for conflict in links.conflicts()}
    new = [conflict for conflict in with_labels.conflicts() if conflict.cannot_link not in among_links]
    if not new:
        return []
    return [f"The labels contradict the links in {count(len(new), 'place')}, for example: {new[0].describe(names)}"]


def _name_failure(trial: Trial, names: Sequence[str]) -> Trial:
    """Name the rows that the failure of a trial gives by number."""
    return trial if trial.failure is None else replace(trial, failure=name_rows(trial.failure, names))


def _fit(
    job: Job,
    entry: Entry | None,
    table: LoadedTable | BlockedTable,
    links: Constraints,
    graph: Any,
    verbose: bool,
    remedies: Mapping[str, str],
) -> tuple[Any, Choice | None, list[str]]:
    """Fit the method of an entry, or the one that held-out links choose; also return its warnings as sentences."""
    labels, names = table.partial_labels, table.row_names
    choice = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if entry is not None:
            given: dict[str, Any] = {"y": labels, "constraints": links} if entry.takes_links else {}
            if entry.takes_graph:
                given["graph"] = graph
            with table.passes() if isinstance(table, BlockedTable) else nullcontext():
                estimator = _build_estimator(entry, job).fit(table.X, **given)
        else:
            choice = choose(
                table.X,
                links,
                y=labels,
                methods={name: _build_estimator(find_clusterer(name), job) for name in default_methods()},
                n_clusters=job.n_clusters,
                random_state=job.random_state,
                verbose=verbose,
            )
            # A failure is about links, whose rows the user knows by their names.
            choice = replace(choice, trials=tuple(_name_failure(trial, names) for trial in choice.trials))
            estimator = choice.estimator
    # The notes of a choice are printed with the table of what was tried.
    known = () if choice is None else choice.notes
    notices = [name_rows(text, names) for text in reword_warnings(caught, remedies) if text not in known]
    return estimator, choice, [*_note_on_number(job, entry), *notices]


def _note_on_number(job: Job, entry: Entry | None) -> list[str]:
    """Note a number of clusters given for a method that finds it."""
    if entry is None or job.n_clusters is None or count_parameter(entry.load()()) is not None:
        return []
    return [
        f"The method {entry.name} finds the number of clusters itself; the given number, {job.n_clusters}, was not "
        "used."
    ]


def _count_moved(model: Model, table: LoadedTable | BlockedTable, labels: Ints, estimator: Any) -> int:
    """Return how many rows the model would put elsewhere if they were new."""
    if isinstance(table, BlockedTable):
        return count_moved(table, model, estimator.labels_)
    return int(np.count_nonzero(model.predict_encoded(table) != labels))


def _model_notices(n_other: int, *, has_links: bool, has_sizes: bool) -> list[str]:
    """Note the rows that the model would put elsewhere if they were new, because of links or sizes."""
    if not n_other:
        return []
    unknown = [*(["its links"] if has_links else []), *(["the sizes of clusters"] if has_sizes else [])]
    but = f" and not {' or '.join(unknown)}" if unknown else " only"
    return [f"{count(n_other, 'row')} would get another cluster from the model, which knows the columns of a row{but}."]


def _radius_notices(job: Job, estimator: Any) -> list[str]:
    """State the radius of connected clusters that have centers, and how far it is at most from the least one."""
    if job.graph is None or not hasattr(estimator, "radius_"):
        return []
    scaled = ", in scaled columns" if job.scale else ""
    sentence = f"The largest distance of a row from the center of its cluster is {estimator.radius_:.3g}{scaled}"
    ratio = getattr(estimator, "ratio_", None)
    if ratio is None or np.isinf(ratio):
        return [f"{sentence}."]
    if estimator.is_exact_:
        return [f"{sentence}; no smaller one is possible."]
    # Rounded up, so that the statement holds.
    return [f"{sentence}; it is at most {np.ceil(ratio * 100) / 100:.2f} times the least possible one."]


def _build_estimator(entry: Entry, job: Job) -> Any:
    """Make the clusterer of an entry with the parameters of the job that it has."""
    asked: dict[str, Any] = dict(job.sizes)
    if job.n_init is not None:
        asked["n_init"] = job.n_init
    if job.relax:
        asked["on_infeasible"] = "relax"
    if job.has_certain_links:
        asked["trust"] = CERTAIN
    if job.estimator is not None:
        asked["estimator"] = _boosted_estimator(job.estimator, entry)
    return build_clusterer(entry, job.n_clusters, random_state=job.random_state, **asked)


def _boosted_estimator(name: str, entry: Entry) -> Any:
    """Make the clusterer of a name for a method that boosts one, or refuse the name."""
    if not entry.boosts:
        raise OptionError(f"The method {entry.name} boosts no other clusterer; {name!r} cannot be used with it.")
    if name in entry.own_estimators:
        return name
    if name not in ESTIMATORS:
        known = ", ".join(dict.fromkeys([*entry.own_estimators, *ESTIMATORS]))
        raise OptionError(f"There is no clusterer {name!r} to boost; use one of {known}.")
    module, class_name, parameters = ESTIMATORS[name]
    return getattr(importlib.import_module(module), class_name)(**parameters)


def _write(
    job: Job,
    command: str | None,
    table: LoadedTable | BlockedTable,
    links: Constraints,
    found: Ints,
    estimator: Any,
    choice: Choice | None,
    model: Model | None,
    notices: list[str],
) -> Summary:
    """Write the clusters, the report and the model, all or none, and return what is shown."""
    if isinstance(table, BlockedTable):
        return write_blocked(job, command, table, links, found, estimator, model, notices)
    shown: dict[str, Any] = {
        "features": table.features,
        "row_names": table.row_names,
        "known_labels": table.kept_labels,
        "notices": notices,
        "estimator": estimator,
    }
    n_found = found.max(initial=-1) + 1
    with StagedFiles() as files:
        if job.output is not None:
            stage_labels(
                files,
                job.output,
                job.table,
                table,
                found,
                id_column=job.id_column,
                label_column=job.label_column,
                keep_columns=job.keep_columns,
                header=job.header,
            )
        if job.save_model is not None and model is not None:
            stage_model(files, job.save_model, model)
        if job.report is None:
            return summarize(table.X, found, links, **shown)
        return write_report(
            job.report,
            table.X,
            found,
            links,
            **shown,
            choice=choice,
            title=f"{Path(job.table).name} in {count(int(n_found), 'cluster')}",
            run={} if command is None else {"Command": command},
            files=files,
        )
