"""The arguments and options that several commands share, with their help."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Base",
    "Categorical",
    "Clusters",
    "Contradictions",
    "Debug",
    "Header",
    "IdColumn",
    "Ignore",
    "LabelColumn",
    "Method",
    "Missing",
    "MissingCells",
    "OneHot",
    "OptionalClusters",
    "OptionalLinksFile",
    "OptionalTableFile",
    "Output",
    "Relax",
    "Report",
    "Scale",
    "Seed",
    "Starts",
    "TableFile",
    "WhenContradictory",
]

_COLUMNS = "Columns"

TableFile = Annotated[
    Path,
    typer.Argument(metavar="TABLE", help="The table: .csv, .tsv or .txt (also .gz), .parquet or .npy."),
]
OptionalTableFile = Annotated[
    Path | None,
    typer.Argument(metavar="TABLE", help="The table the links are about: .csv, .tsv, .parquet or .npy."),
]
OptionalLinksFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="LINKS",
        help="The links: a .csv or .tsv with the columns a, b, link (must or cannot, or 1 or -1) and optionally "
        "weight. Rows are named by their number, the first data row being 0, or with --id by their id.",
    ),
]
Clusters = Annotated[int, typer.Option("-k", "--clusters", metavar="K", help="How many clusters to make.")]
OptionalClusters = Annotated[
    int | None,
    typer.Option(
        "-k",
        "--clusters",
        metavar="K",
        help="How many clusters to make. Methods that find the number, and auto, go without.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="The same seed gives the same clusters.")]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help="boost, pck, cop, seeded, ...: see [bold]mustlink methods[/bold]. With auto, the method, and without -k "
        "the number of clusters too, is the one that best foresees links held out.",
    ),
]
Base = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="NAME",
        help="The clusterer to boost: kmeans, spectral, average, complete, single, ward, mixture, birch, hdbscan, "
        "affinity; bbc also takes kmedoids.",
        show_default="kmeans; affinity for bbc",
    ),
]
Relax = Annotated[
    bool, typer.Option("--relax", help="Where a hard method cannot keep every link, take the best it found.")
]
Starts = Annotated[
    int, typer.Option("--starts", metavar="N", help="How many runs from different starts to choose the best of.")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="OUT",
        help="Where the clusters are written: .csv, .tsv, .npy or .parquet.",
        show_default="the table's name with .clusters.csv, in this folder",
    ),
]
Report = Annotated[
    Path | None, typer.Option("--report", metavar="HTML", help="Write a report to look at in a browser.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

IdColumn = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="The column that names the rows. Links then name ids, and the clusters are written beside them.",
        rich_help_panel=_COLUMNS,
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        "--label-column",
        metavar="COLUMN",
        help="A column with labels for some rows (empty: unknown). Rows of one label belong together, rows of two "
        "labels do not. It is not clustered by.",
        rich_help_panel=_COLUMNS,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore", metavar="COLUMN", help="A column to leave out. May be repeated.", rich_help_panel=_COLUMNS
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COLUMN",
        help="A column to take as categories, even of numbers or very many. May be repeated.",
        rich_help_panel=_COLUMNS,
    ),
]
Scale = Annotated[
    bool,
    typer.Option(
        "--scale/--no-scale",
        help="Whether numeric columns get mean 0 and standard deviation 1.",
        rich_help_panel=_COLUMNS,
    ),
]
OneHot = Annotated[
    bool,
    typer.Option(
        "--one-hot/--no-one-hot",
        help="Whether text columns become one 0/1 column per category, or are left out.",
        rich_help_panel=_COLUMNS,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a text file names the columns; without, they are x0, x1, ...",
        rich_help_panel=_COLUMNS,
        show_default="names, unless they are all numbers",
    ),
]


class MissingCells(StrEnum):
    """What to do with empty cells."""

    error = "error"
    drop = "drop"
    mean = "mean"


Missing = Annotated[
    MissingCells,
    typer.Option(
        "--missing",
        help="Empty cells: refuse them, leave out their rows (drop), or fill them with the mean of the column, in text "
        "with a category of their own (mean).",
        rich_help_panel=_COLUMNS,
    ),
]


class WhenContradictory(StrEnum):
    """What to do with a pair that is linked both ways."""

    error = "raise"
    majority = "majority"


Contradictions = Annotated[
    WhenContradictory,
    typer.Option("--contradictions", help="A pair linked both ways: refuse it, or let the heavier side win."),
]
