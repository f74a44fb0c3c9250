"""The arguments and options of the commands, each written once, with its help.

A command names its parameters like the fields of the job they fill, see :func:`fill`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from mustlink.catalogue import ESTIMATORS, default_methods

if TYPE_CHECKING:
    from mustlink.workflow import TableOptions

# Where the group of commands keeps the words as typed, for the commands.
TYPED = "mustlink.typed"
_column_option = partial(typer.Option, rich_help_panel="Columns")
_file_option = partial(typer.Option, rich_help_panel="How TABLE is written")

TableFile = Annotated[
    Path, typer.Argument(metavar="TABLE", help="The table: .csv, .tsv or .txt (also .gz), .xlsx, .parquet or .npy.")
]
LargeTableFile = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        help="The table: .csv, .tsv or .txt (also .gz), .xlsx, .parquet or .npy, or a folder of .parquet files.",
    ),
]
OptionalTableFile = Annotated[
    Path | None,
    typer.Argument(metavar="TABLE", help="The table that the links are about, in the formats of mustlink cluster."),
]
_LINKS = typer.Argument(
    metavar="LINKS",
    help="The links: a .csv, .tsv, .xlsx or .parquet file with the columns a, b, link (must or cannot, or 1 or -1) "
    "and optionally weight. Rows are named by their number, the first data row being 0, or with --id by their id.",
)
LinksFile = Annotated[Path, _LINKS]
OptionalLinksFile = Annotated[Path | None, _LINKS]
Clusters = Annotated[int, typer.Option("-k", "--clusters", metavar="K", help="The number of clusters.")]
OptionalClusters = Annotated[
    int | None,
    typer.Option(
        "-k",
        "--clusters",
        metavar="K",
        help="The number of clusters. Not needed by methods that find it and by --method auto.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="The same seed gives the same clusters.")]
QuestionSeed = Annotated[int, typer.Option("--seed", metavar="N", help="The same seed asks the same questions.")]
KMeansSeed = Annotated[int, typer.Option("--seed", metavar="N", help="The seed of the plain k-means to compare with.")]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help=f"{', '.join(default_methods())}, ...: see [bold]mustlink methods[/bold]. With auto, the method, and "
        "without -k the number of clusters, is the one that best predicts held-out links.",
    ),
]
Base = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="NAME",
        help=f"The clusterer to boost: {', '.join(ESTIMATORS)}; boost also takes auto, which mixes several, and bbc "
        "takes kmedoids.",
        show_default="auto for boost; affinity for bbc; else kmeans",
    ),
]
LinksAre = Annotated[
    Literal["estimated", "certain"],
    typer.Option(
        "--links-are",
        metavar="HOW",
        help="How far links are trusted by [bold]--method boost[/bold]: it estimates which of them are wrong "
        "(estimated), or keeps all of them (certain). Methods that keep all links anyway refuse it.",
    ),
]
Relax = Annotated[
    bool, typer.Option("--relax", metavar="", help="If a hard method cannot keep every link, take the best it found.")
]
Starts = Annotated[
    int | None,
    typer.Option(
        "--starts",
        metavar="N",
        help="The number of runs from different starts, of which the best is taken, for methods that take the best.",
        show_default="10",
    ),
]
MinSize = Annotated[
    int | None,
    typer.Option(
        "--min-size",
        metavar="N",
        help="No cluster has fewer rows. Without --method, k-means with sizes is used ([bold]--method sizes[/bold]).",
        show_default=False,
    ),
]
MaxSize = Annotated[
    int | None,
    typer.Option("--max-size", metavar="N", help="No cluster has more rows, as --min-size.", show_default=False),
]
Graph = Annotated[
    Path | None,
    typer.Option(
        "--graph",
        metavar="EDGES",
        help="Edges between rows, for clusters that are connected: a .csv, .tsv, .xlsx or .parquet file with two "
        "columns that name rows as LINKS does. Without --method, k-means with connected clusters is used "
        "([bold]--method connected-kmeans[/bold]).",
        show_default=False,
    ),
]


def _output_option(what: str) -> Any:
    return typer.Option(
        "-o",
        "--output",
        metavar="OUT",
        help="Where the clusters are written: .csv, .tsv, .xlsx, .parquet or .npy. Text is written as the table is, "
        "with its encoding and separator.",
        show_default=f"the table's name with .{what}.csv, in this folder",
    )


Output = Annotated[Path | None, _output_option("clusters")]
AnotherOutput = Annotated[Path | None, _output_option("another")]
PredictedOutput = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="OUT",
        help="Where the clusters, or the categories of texts, are written: .csv, .tsv, .xlsx, .parquet or, for "
        "clusters, .npy. Text is written as the table is, with its encoding and separator.",
        show_default="the table's name with .clusters.csv or .categories.csv, in this folder",
    ),
]
KeepColumns = Annotated[
    bool,
    typer.Option(
        "--keep-columns",
        metavar="",
        help="Write the whole table as it came in, with the cluster as one more column.",
    ),
]
Report = Annotated[
    Path | None, typer.Option("--report", metavar="HTML", help="Write a report to look at in a browser.")
]
ClustersFile = Annotated[
    Path,
    typer.Argument(
        metavar="CLUSTERS",
        help="The file of the clusters, of mustlink or of any other tool: .csv, .tsv, .xlsx, .parquet or .npy. Or the "
        "table itself, if it has a column of clusters, named by --cluster-column.",
    ),
]
ExplainedTable = Annotated[
    Path | None,
    typer.Argument(metavar="TABLE", help="The table that was clustered, in the formats of mustlink cluster."),
]
ClusterColumn = Annotated[
    str | None,
    _column_option(
        "--cluster-column",
        metavar="COLUMN",
        help="The column of the clusters, numbers or names. Empty cells and -1 are no cluster.",
        show_default="cluster, or the only column that TABLE does not have",
    ),
]
ExplainedIds = Annotated[
    str | None,
    _column_option(
        "--id",
        metavar="COLUMN",
        help="The column that names the rows in both files.",
        show_default="the first column of CLUSTERS that TABLE has too; otherwise rows are matched in their order",
    ),
]
LinksOption = Annotated[
    Path | None, typer.Option("--links", metavar="FILE", help="Links, to see which of them the clusters keep.")
]
SaveModel = Annotated[
    Path | None,
    typer.Option(
        "--save-model",
        metavar="FILE",
        help="Save a model that puts new rows into the same clusters, see [bold]mustlink predict[/bold]; for methods "
        "that can predict.",
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="The model that mustlink cluster or taxonomy saved with --save-model.")
]
NewRowsFile = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        help="The table with the new rows, in the formats of mustlink cluster. Columns are found by their names. For a "
        "model of texts, the new texts as mustlink taxonomy reads them.",
    ),
]
Texts = Annotated[
    Path,
    typer.Argument(
        metavar="TEXTS",
        help="The texts: a column of a table (.csv, .tsv, .xlsx, .parquet), the lines of a .txt file, or the files "
        "of a folder.",
    ),
]
TextColumn = Annotated[
    str | None,
    typer.Option("--text", metavar="COLUMN", help="The column of the texts.", show_default="text, or the only column"),
]
TitleColumn = Annotated[
    str | None,
    typer.Option("--title", metavar="COLUMN", help="The column of titles to show.", show_default="how a text begins"),
]
TextIdColumn = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="The column that names the texts.", show_default="their numbers, from 0"
    ),
]
StopWords = Annotated[
    Literal["english", "none"],
    typer.Option("--stop-words", metavar="LANGUAGE", help="Leave out frequent words: english or none."),
]
MinDf = Annotated[int, typer.Option("--min-df", metavar="N", help="Leave out words that occur in fewer texts.")]
InBlocks = Annotated[
    bool | None,
    typer.Option(
        "--in-blocks/--in-memory",
        metavar="",
        help="Whether TABLE, .parquet or .npy, is read in blocks, for tables that are larger than memory. Needs a "
        "method that takes blocks, such as [bold]--method pck[/bold].",
        show_default="in blocks if the table would take more than a quarter of the available memory",
    ),
]
Debug = Annotated[bool, typer.Option("--debug", metavar="", help="Show the traceback of an error.")]

IdColumn = Annotated[
    str | None,
    _column_option(
        "--id",
        metavar="COLUMN",
        help="The column that names the rows. Links then name ids, and the clusters are written beside them.",
    ),
]
LinkIdColumn = Annotated[
    str | None, _column_option("--id", metavar="COLUMN", help="The column that names the rows. Links then name ids.")
]
LabelColumn = Annotated[
    str | None,
    _column_option(
        "--label-column",
        metavar="COLUMN",
        help="A column with labels for some rows (empty or -1: unknown). Rows with one label belong together, rows "
        "with different labels do not. If every row has a label, the clusters are only compared with the labels. It is "
        "not used as a feature.",
    ),
]
NeverTogether = Annotated[
    list[str] | None,
    _column_option(
        "--never-together",
        metavar="COLUMN",
        help="A column of groups: rows with the same entry are never in one cluster. Empty cells and -1 are no group. "
        "It is not used as a feature, unless --categorical names it too. May be repeated.",
    ),
]
AlwaysTogether = Annotated[
    list[str] | None,
    _column_option(
        "--always-together",
        metavar="COLUMN",
        help="A column of groups: rows with the same entry are always in one cluster, as --never-together.",
    ),
]
Ignore = Annotated[
    list[str] | None, _column_option("--ignore", metavar="COLUMN", help="A column to leave out. May be repeated.")
]
Categorical = Annotated[
    list[str] | None,
    _column_option(
        "--categorical",
        metavar="COLUMN",
        help="A column to use as categories, even if it holds numbers or very many texts. May be repeated.",
    ),
]
Scale = Annotated[
    bool,
    _column_option(
        "--scale/--no-scale",
        metavar="",
        help="Whether numeric columns are standardized (mean 0, standard deviation 1).",
    ),
]
OneHot = Annotated[
    bool,
    _column_option(
        "--one-hot/--no-one-hot",
        metavar="",
        help="Whether text columns become one 0/1 column per category, or are left out.",
    ),
]
Header = Annotated[
    bool | None,
    _column_option(
        "--header/--no-header",
        metavar="",
        help="Whether the first line of a text file names the columns; otherwise they are x0, x1, ...",
        show_default="names; a line of only numbers is refused",
    ),
]
ModelIdColumn = Annotated[
    str | None,
    _column_option(
        "--id",
        metavar="COLUMN",
        help="The column that names the rows.",
        show_default="that of the model, if the table has it",
    ),
]
ModelMissing = Annotated[
    Literal["error", "drop", "mean"] | None,
    _column_option(
        "--missing",
        metavar="HOW",
        help="Empty cells: refuse them (error), leave out their rows (drop), or fill them with the mean of the column "
        "in the model's own table (mean).",
        show_default="as for the model",
    ),
]
Encoding = Annotated[
    str | None,
    _file_option(
        "--encoding",
        metavar="NAME",
        help="The encoding of a text file, such as utf-8, cp1252, latin-1, utf-16 or cp437.",
        show_default="found: UTF-8, UTF-16, otherwise cp1252",
    ),
]
Delimiter = Annotated[
    str | None,
    _file_option(
        "--delimiter",
        metavar="SIGN",
        help="The sign between the cells of a text file; tab for a tab.",
        show_default="found: comma, semicolon, tab or |",
    ),
]
Decimal = Annotated[
    str | None,
    _file_option(
        "--decimal",
        metavar="SIGN",
        help="The decimal sign, . or a comma; the other one may stand between thousands.",
        show_default="found from all columns",
    ),
]
Sheet = Annotated[
    str | None,
    _file_option("--sheet", metavar="NAME", help="The sheet of an Excel file.", show_default="the first one"),
]
Missing = Annotated[
    Literal["error", "drop", "mean"],
    _column_option(
        "--missing",
        metavar="HOW",
        help="Empty cells: refuse them (error), leave out their rows (drop), or fill them with the mean of the column, "
        "in text with a category of their own (mean).",
    ),
]
Contradictions = Annotated[
    Literal["raise", "majority", "keep"],
    typer.Option(
        "--contradictions",
        metavar="HOW",
        help="A pair linked both ways: refuse it (raise); keep the heavier side, and neither if both "
        "weigh the same (majority); or keep both as a conflict, of which a soft method breaks one (keep).",
    ),
]
UnknownIds = Annotated[
    Literal["raise", "skip"],
    typer.Option(
        "--unknown-ids",
        metavar="HOW",
        help="A link or an edge that names an id which the table does not have: refuse it (raise), or leave it out "
        "and say how many were (skip).",
    ),
]


Options = TypeVar("Options")


def fill(kind: type[Options], given: Mapping[str, Any]) -> Options:
    """Make a dataclass of the parameters of a command; what was not given keeps the default of the dataclass."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in given.items() if name in names and value is not None})


# Options and arguments whose name is not that of the field.
NAMES = {
    "id_column": "--id",
    "min_cluster_size": "--min-size",
    "n_candidates": "--candidates",
    "n_init": "--starts",
    "n_next": "--next",
    "n_unsure": "--unsure",
    "table": "TABLE",
    "truth_column": "--truth",
}


def option_name(field: str) -> str:
    """Return what the command line calls a field of a job."""
    return NAMES.get(field, f"--{field.replace('_', '-')}")


def typed_words(options: TableOptions) -> list[str]:
    """Return the words of a command line that give the options of a table; defaults are left out."""
    words: list[str] = []
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name == "table" or value == field.default:
            continue
        option = option_name(field.name)
        if isinstance(value, bool):
            words.append(option if value else option.replace("--", "--no-", 1))
        else:
            words += [word for each in ([value] if isinstance(value, str) else value) for word in (option, str(each))]
    return words


def stem(table: Path) -> str:
    """Return the name of a table without its folder and suffixes, to name other files after it."""
    return Path(table.name.removesuffix(".gz")).stem


def text_stem(texts: Path) -> str:
    """Return what other files are named after: a file of texts, or a folder."""
    return texts.resolve().name if texts.is_dir() else stem(texts)


def output_name(table: Path, keep_columns: bool, what: str = "clusters") -> Path:
    """Return where a result is written if no file is named; a whole table is written in its own format."""
    suffix = Path(table.name.removesuffix(".gz")).suffix.lower()
    own = {".tab": ".tsv", ".xlsm": ".xlsx", ".pq": ".parquet"}.get(suffix, suffix)
    return Path(f"{stem(table)}.{what}{own if keep_columns and own in ('.tsv', '.xlsx', '.parquet') else '.csv'}")
