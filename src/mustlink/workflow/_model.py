"""A clustering that stays: saved in a file, and new rows put into the same clusters.

The file is one of skops, which holds data and no program, with one more entry, :data:`ABOUT`: the encoder of the table
and the versions, as JSON. Arrays are stored as they are and texts are bounded, so that no small file can unpack to a
large one.
"""

from __future__ import annotations

import io
import json
import os
import platform
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from mustlink._atomic import StagedFiles, check_writable
from mustlink._types import Ints
from mustlink._version import __version__
from mustlink._warnings import warn_caller
from mustlink.catalogue import CATALOGUE, OTHER_INPUTS, Entry, find_clusterer
from mustlink.errors import FileFormatError, OptionError, PredictionWarning
from mustlink.tables import EncodedTable, Table, TableEncoder, check_options, read_table, require
from mustlink.workflow._loading import LoadedTable, TableOptions
from mustlink.workflow._outputs import check_model_suffix
from mustlink.workflow._text_model import TextModel

if TYPE_CHECKING:
    from mustlink.workflow._blocked_table import BlockedTable
    from mustlink.workflow._job import JobResult

__all__ = [
    "Model",
    "check_predicts",
    "current_versions",
    "is_text_model",
    "load_model",
    "predicting_methods",
    "save_model",
    "stage_model",
]

FORMAT = 1
ABOUT = "mustlink.json"
SCHEMA = "schema.json"
MAX_TEXT_BYTES = 64 * 2**20
PICKLE = b"\x80"
ZIP = b"PK\x03\x04"
MAX_SHOWN_TYPES = 3

# The types that clusterers keep for predicting, besides those that skops trusts: numbers, texts, arrays, scikit-learn's
# estimators.
KEPT_TYPES = frozenset(
    {
        "mustlink._rows.Standardizer",
        "mustlink.alternative._families.Scores",
        "mustlink.alternative._glm.GlmScores",
        "mustlink.alternative._layout.Layout",
        "mustlink.alternative._multinomial_mixture.MultinomialMixture",
        "mustlink.alternative._residual.Explained",
        "mustlink.boosting._bases.BaseRun",
        "mustlink.boosting._bases.LeadingColumns",
        "mustlink.boosting._bases.NearestMean",
        "mustlink.boosting._bases.NearestRow",
        "mustlink.boosting._boostcluster._consensus.Consensus",
        "mustlink.boosting._boostcluster._coordinates.Basis",
        "mustlink.boosting._boostcluster._coordinates.Coordinates",
        "mustlink.boosting._boostcluster._coordinates.Scaling",
        "mustlink.boosting._boostcluster._representations.Directions",
        "mustlink.boosting._coassociation.CoAssociation",
        "mustlink.boosting._code_kmeans.CodeCenters",
        "mustlink.boosting._distboost._distance.Directions",
        "mustlink.boosting._distboost._distance.Ensemble",
        "mustlink.boosting._distboost._weak_mixture.WeakMixture",
        "mustlink.boosting._robust._resolution.ResolvedConsensus",
        "mustlink._kernel.Kernel",
        "mustlink._kernel.KernelWithRows",
        "mustlink.kmeans._kernel_space.Nystroem",
        "mustlink.kmeans._mpckmeans_metrics.DiagonalMetrics",
        "mustlink.mixture._gaussians.Gaussians",
        "numpy.dtype",
        "scipy.sparse._csr.csr_array",
    }
)


@dataclass(frozen=True)
class Model:
    """A fitted clusterer and the encoder of its table, which put new rows into the same clusters.

    Parameters
    ----------
    clusterer : object
        The fitted clusterer.
    encoder : TableEncoder
        How the columns of a table become features.
    clusters : tuple of int
        The clusterer's own number of each cluster, in the order in which the clusters are numbered from 0 without gaps.
    n_rows : int
        The number of rows that were clustered.
    id_column, label_column : str or None
        The columns of ids and of known labels, which are not features.
    other_columns : tuple of str
        Further columns of the table that are not features.
    versions : mapping of str to str
        The versions of mustlink and of what it stands on with which the model was made.
    notices : tuple of str, default=()
        What a person should know of the model, as sentences.

    See Also
    --------
    save_model : Write one to a file.
    load_model : Read one from a file.

    Examples
    --------
    >>> from mustlink.datasets import sample_paths
    >>> from mustlink.workflow import Job, Model, run_job
    >>> table, links = sample_paths()
    >>> model = Model.of(run_job(Job(table, links, n_clusters=3, id_column="customer", method="pck")))
    >>> model.predict(table).shape
    (240,)
    """

    clusterer: Any
    encoder: TableEncoder
    clusters: tuple[int, ...]
    n_rows: int
    id_column: str | None
    label_column: str | None
    other_columns: tuple[str, ...]
    versions: Mapping[str, str]
    notices: tuple[str, ...] = ()

    @classmethod
    def of(cls, result: JobResult) -> Model:
        """Make a model of the result of a job.

        Parameters
        ----------
        result : JobResult
            The result, of a method that can predict.

        Returns
        -------
        Model
        """
        if not hasattr(result, "entry"):
            raise TypeError(f"A model is made of what run_job returned, and this is a {type(result).__name__}.")
        check_predicts(result.entry)
        return cls.of_fit(result.job, result.table, result.estimator)

    @classmethod
    def of_fit(cls, options: TableOptions, table: LoadedTable | BlockedTable, clusterer: Any) -> Model:
        """Make a model of a clusterer that was fitted to a table.

        Parameters
        ----------
        options : TableOptions
            How the columns of the table are used.
        table : LoadedTable or BlockedTable
            The table.
        clusterer : object
            The fitted clusterer, which can predict.

        Returns
        -------
        Model
        """
        # A table in blocks knows its encoder.
        encoder = TableEncoder.of(table, options.missing) if isinstance(table, LoadedTable) else table.encoder
        fitted = clusterer.labels_
        columns = (*table.source.names, *table.source.left_out)
        return cls(
            clusterer._for_predicting(),
            encoder,
            tuple(np.unique(fitted[fitted >= 0]).tolist()),
            len(table.X),
            options.id_column,
            options.label_column,
            tuple(name for name in columns if name not in encoder.names),
            current_versions(),
        )

    @property
    def about(self) -> dict[str, Any]:
        """What is written beside the clusterer."""
        names = ("clusters", "n_rows", "id_column", "label_column", "other_columns")
        return {**{name: getattr(self, name) for name in names}, "encoder": self.encoder.as_json()}

    @property
    def entry(self) -> Entry:
        """The entry of the clusterer in the catalogue."""
        return find_clusterer(type(self.clusterer).__name__)

    def predict(
        self, table: str | os.PathLike[str] | Table | Any, *, missing: Literal["error", "drop", "mean"] | None = None
    ) -> Ints:
        """Return the cluster of each row of a table.

        Parameters
        ----------
        table : str, path-like, Table, pandas or polars DataFrame
            A file, or a table with at least the columns that the model needs, in any order.
        missing : {"error", "drop", "mean"} or None, default=None
            What to do with empty cells, as in :class:`TableOptions`; None does as the model does.

        Returns
        -------
        ndarray of int, shape (n_rows,)
            The clusters, numbered as in the result of the job; -1 for a row in no cluster, or left out for its empty
            cells.

        Warns
        -----
        PredictionWarning
            For categories that the model does not know, numbers far outside its table, and empty cells.
        """
        if not isinstance(table, Table):
            table = self.read(table)
        encoder = self.encoder
        if missing is not None:
            check_options(missing=missing)
            encoder = replace(encoder, missing=missing)
        encoded = encoder.apply(table)
        for notice in encoded.notices:
            warn_caller(notice, PredictionWarning)
        labels = np.full(table.n_rows, -1)
        labels[encoded.rows] = self.predict_encoded(encoded)
        return labels

    def predict_encoded(self, encoded: EncodedTable) -> Ints:
        """Return the cluster of each row that the encoder kept.

        Parameters
        ----------
        encoded : EncodedTable
            What ``encoder.apply`` returned.

        Returns
        -------
        ndarray of int, shape (n_kept,)
        """
        found = self.clusterer.predict(encoded.X)
        # A cluster that had no rows is numbered after the others.
        others = np.setdiff1d(found[found >= 0], self.clusters)
        number = {cluster: place for place, cluster in enumerate((*self.clusters, *others.tolist()))}
        return np.array([number.get(cluster, -1) for cluster in found.tolist()], dtype=np.int64)

    def read(self, table: str | os.PathLike[str] | Any, *, more: Sequence[str] = (), **options: Any) -> Table:
        """Read the columns that the model needs.

        Parameters
        ----------
        table : str, path-like, pandas or polars DataFrame
            The file, or a data frame.
        more : sequence of str, default=()
            Further columns to read, as text.
        **options : object
            Further options of :func:`mustlink.tables.read_table`.

        Returns
        -------
        Table
        """
        text, columns = (*self.encoder.text, *more), (*self.encoder.names, *more)
        # Problems of columns are raised when they are encoded, without remedies that a model does not have.
        if not isinstance(table, str | os.PathLike):
            return Table.from_frame(table, text=text, columns=columns, problems="keep")
        if Path(table).is_dir():
            raise FileFormatError(
                f"{table} is a folder; new rows are read from one file, so predict its files one by one."
            )
        return read_table(table, text=text, columns=columns, problems="keep", **options)


def predicting_methods() -> list[str]:
    """List the methods whose clusterings can be saved as models: those that can predict new rows.

    Returns
    -------
    list of str
        Short names, in the order of the catalogue.

    Examples
    --------
    >>> from mustlink.workflow import predicting_methods
    >>> predicting_methods()[:3]
    ['boost', 'bckm', 'boostcluster']
    """
    return [entry.name for entry in CATALOGUE if hasattr(entry.load(), "predict")]


def trusted_types(found: Collection[str]) -> set[str]:
    """Return those of some types that a model may hold: clusterers that can predict, and what they keep for it."""
    # Only the classes in question are imported.
    names = {name.rpartition(".")[2] for name in found}
    classes = [entry.load() for entry in (*CATALOGUE, *OTHER_INPUTS) if entry.class_name in names]
    predicting = {f"{kind.__module__}.{kind.__qualname__}" for kind in classes if hasattr(kind, "predict")}
    return (predicting | KEPT_TYPES).intersection(found)


def check_predicts(entry: Entry) -> None:
    """Refuse a method that cannot predict new rows.

    Parameters
    ----------
    entry : Entry
        Its entry in the catalogue.

    Raises
    ------
    OptionError
        With the methods that can.

    Examples
    --------
    >>> from mustlink.catalogue import find_clusterer
    >>> from mustlink.workflow import check_predicts
    >>> check_predicts(find_clusterer("linkage"))
    Traceback (most recent call last):
        ...
    mustlink.errors.OptionError: The method linkage cannot predict new rows, so that no model can be saved; ...
    """
    if not hasattr(entry.load(), "predict"):
        raise OptionError(
            f"The method {entry.name} cannot predict new rows, so that no model can be saved; those that can are "
            f"{', '.join(predicting_methods())}."
        )


def save_model(result: JobResult, path: str | os.PathLike[str]) -> None:
    """Save the clustering of a job, so that new rows can be put into its clusters.

    Needs the extra ``model``.

    Parameters
    ----------
    result : JobResult
        What :func:`run_job` returned, of a method that can predict.
    path : str or path-like
        The file to write; it appears complete or not at all.

    See Also
    --------
    load_model : Read it again.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mustlink.datasets import sample_paths
    >>> from mustlink.workflow import Job, load_model, run_job, save_model
    >>> table, links = sample_paths()
    >>> result = run_job(Job(table, links, n_clusters=3, id_column="customer", method="pck"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(result, pathlib.Path(folder, "customers.model"))
    ...     model = load_model(pathlib.Path(folder, "customers.model"))
    >>> model.entry.class_name, model.id_column, len(model.clusters)
    ('PCKMeans', 'customer', 3)
    """
    model = Model.of(result)
    check_model_suffix(path)
    check_writable(path)
    with StagedFiles() as files:
        stage_model(files, path, model)


def stage_model(files: StagedFiles, path: str | os.PathLike[str], model: Model | TextModel) -> None:
    """Stage the file of a model."""
    require("skops", path, "writing models", "model")
    from skops.io import dumps

    about = {
        "format": FORMAT,
        "versions": dict(model.versions),
        "method": type(model.clusterer).__name__,
        "attributes": type(model.clusterer)._read_by_predict,
        **model.about,
    }
    content = io.BytesIO()
    with ZipFile(io.BytesIO(dumps(model.clusterer))) as made, ZipFile(content, "w") as written:
        written.writestr(ZipInfo(ABOUT), json.dumps(about, indent=1), ZIP_DEFLATED)
        for entry in made.infolist():
            kind = ZIP_DEFLATED if entry.filename == SCHEMA else ZIP_STORED
            written.writestr(ZipInfo(entry.filename), made.read(entry), kind)
    files.stage(path, content.getvalue())


def load_model(path: str | os.PathLike[str]) -> Model | TextModel:
    """Read a model that was saved by mustlink.

    Needs the extra ``model``. A file that holds anything but numbers, texts, arrays and the classes of clusterers is
    refused before any of it is loaded; a pickle is never loaded.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Model or TextModel
        The latter if it is of texts, as :func:`run_taxonomy` saves it.

    Raises
    ------
    FileFormatError
        If the file is not such a model, is damaged, or was made for another version of the format.

    See Also
    --------
    save_model : Write one.

    Examples
    --------
    >>> from mustlink.datasets import sample_paths
    >>> from mustlink.workflow import load_model
    >>> load_model(sample_paths()[0])
    Traceback (most recent call last):
        ...
    mustlink.errors.FileFormatError: ...customers.csv is not a model that mustlink saved.
    """
    path = Path(path)
    content = path.read_bytes()
    if not content.startswith(ZIP):
        raise FileFormatError(_not_a_model(path, content))
    try:
        with ZipFile(io.BytesIO(content)) as file:
            about = _read_about(path, file)
            _check_sizes(path, file, len(content))
        return _build(path, about, _load_clusterer(path, content))
    except (FileFormatError, MemoryError):
        raise
    except Exception as error:  # a damaged file, or one made to break its reader, can make it fail in any way
        reason = " ".join(str(error).split())[:100].rstrip(".") or type(error).__name__
        raise FileFormatError(f"{path} is damaged or incomplete ({reason}); save the model again.") from None


def is_text_model(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a model of texts, without loading it.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    bool
        False also for a file that is missing or no model, which :func:`load_model` refuses.

    See Also
    --------
    load_model : Read it.

    Examples
    --------
    >>> from mustlink.datasets import sample_paths
    >>> from mustlink.workflow import is_text_model
    >>> is_text_model(sample_paths()[0])
    False
    """
    try:
        with ZipFile(path) as file:
            return "texts" in _read_about(Path(path), file)
    except Exception:  # as in load_model
        return False


def _not_a_model(path: Path, content: bytes) -> str:
    """Say what a file is that is not even a zip archive."""
    if content.startswith(PICKLE):
        return f"{path} is a pickle, which could run any program; only models that mustlink saved are loaded."
    return f"{path} is not a model that mustlink saved."


def _read_about(path: Path, file: ZipFile) -> dict[str, Any]:
    """Read what is known about the model, and refuse one of another format."""
    if ABOUT not in file.namelist():
        raise FileFormatError(_not_a_model(path, b""))
    if file.getinfo(ABOUT).file_size > MAX_TEXT_BYTES:
        raise _too_large(path)
    about = json.loads(file.read(ABOUT))
    number, made_with = int(about["format"]), str(about["versions"]["mustlink"])
    if number != FORMAT:
        raise FileFormatError(
            f"{path} is a model of format {number}, saved by mustlink {made_with[:40]}, and this is mustlink "
            f"{__version__}, which reads format {FORMAT}; cluster again, or use that version."
        )
    return dict(about)


def _check_sizes(path: Path, file: ZipFile, size: int) -> None:
    """Refuse a file that would unpack to much more than it is."""
    entries = file.infolist()
    texts = [entry for entry in entries if entry.filename in (ABOUT, SCHEMA)]
    stored = [entry for entry in entries if entry.filename not in (ABOUT, SCHEMA)]
    if (
        any(entry.file_size > MAX_TEXT_BYTES for entry in texts)
        or any(entry.compress_type != ZIP_STORED for entry in stored)
        or sum(entry.file_size for entry in stored) > size
    ):
        raise _too_large(path)


def _too_large(path: Path) -> FileFormatError:
    """Return the error for a file that unpacks to too much."""
    return FileFormatError(
        f"{path} would unpack to much more than its own size, as no model that mustlink saved does; it was not loaded."
    )


def _load_clusterer(path: Path, content: bytes) -> Any:
    """Load the clusterer, if the file holds no type that is not trusted."""
    require("skops", path, "reading models", "model")
    from skops.io import get_untrusted_types, loads

    found = get_untrusted_types(data=content)
    trusted = trusted_types(found)
    others = sorted(set(found) - trusted)
    if others:
        shown = ", ".join(others[:MAX_SHOWN_TYPES]) + (" and more" if len(others) > MAX_SHOWN_TYPES else "")
        raise FileFormatError(
            f"{path} holds what no model of mustlink has ({shown}) and was not loaded; do not trust where it came from."
        )
    with warnings.catch_warnings():
        # scikit-learn warns of another version; the notices of the model say so.
        warnings.simplefilter("ignore")
        return loads(content, trusted=sorted(trusted))


def _build(path: Path, about: dict[str, Any], clusterer: Any) -> Model | TextModel:
    """Put the parts of a model together, and check that they belong to each other."""
    if "texts" in about:
        of_texts = TextModel.from_about(clusterer, about)
        if not of_texts.is_whole:
            raise FileFormatError(f"{path} is damaged: its clusterer and its words do not belong together.")
        _check_attributes(path, about, clusterer)
        return replace(of_texts, notices=_version_notices(path, of_texts.versions))
    entry = find_clusterer(str(about["method"]))
    id_column, label_column = (
        None if about[name] is None else str(about[name]) for name in ("id_column", "label_column")
    )
    model = Model(
        clusterer,
        TableEncoder.from_json(about["encoder"]),
        tuple(map(int, about["clusters"])),
        int(about["n_rows"]),
        id_column,
        label_column,
        tuple(map(str, about["other_columns"])),
        {str(name): str(number) for name, number in about["versions"].items()},
    )
    if type(clusterer) is not entry.load() or clusterer.n_features_in_ != len(model.encoder.features):
        raise FileFormatError(f"{path} is damaged: its clusterer and its table do not belong together.")
    check_predicts(entry)
    _check_attributes(path, about, clusterer)
    return replace(model, notices=_version_notices(path, model.versions))


def _check_attributes(path: Path, about: dict[str, Any], clusterer: Any) -> None:
    """Refuse a clusterer of another version, which keeps other attributes."""
    if tuple(about["attributes"]) != type(clusterer)._read_by_predict:
        raise FileFormatError(
            f"{path} was saved by mustlink {str(about['versions']['mustlink'])[:40]}, whose {type(clusterer).__name__} "
            f"is another than that of this mustlink, {__version__}; cluster again, or use that version."
        )


def current_versions() -> dict[str, str]:
    """Return the versions that a model depends on."""
    known = {name: version(name) for name in ("scikit-learn", "numpy", "scipy")}
    return {"mustlink": __version__, **known, "Python": platform.python_version()}


def _version_notices(path: Path, made_with: Mapping[str, str]) -> tuple[str, ...]:
    """Note other versions of what computes the clusters."""
    other = [
        f"{name} {made_with[name]} (here {number})"
        for name, number in current_versions().items()
        if name in ("mustlink", "scikit-learn") and made_with.get(name, number) != number
    ]
    if not other:
        return ()
    return (f"{path} was made with {' and '.join(other)}; rows between two clusters may fall otherwise.",)
