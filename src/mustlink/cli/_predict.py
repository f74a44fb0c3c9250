"""``mustlink predict``: new rows into the clusters of a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mustlink._spelling import count
from mustlink.cli import _options as opt
from mustlink.cli._errors import report_errors

if TYPE_CHECKING:
    from mustlink.workflow import PredictionResult, TextPredictionResult

__all__ = ["predict"]


@report_errors
def predict(
    model: opt.ModelFile,
    table: opt.NewRowsFile,
    id_column: opt.ModelIdColumn = None,
    missing: opt.ModelMissing = None,
    header: opt.Header = None,
    encoding: opt.Encoding = None,
    delimiter: opt.Delimiter = None,
    decimal: opt.Decimal = None,
    sheet: opt.Sheet = None,
    output: opt.PredictedOutput = None,
    keep_columns: opt.KeepColumns = False,
    debug: opt.Debug = False,
) -> None:
    """Put new rows into the clusters of a saved model.

    Reads the columns that the model needs, by their names, and writes the cluster of every row, or the category of
    every text. Links play no part. Exit code 0, or 2 when something in the input is wrong.
    """
    from mustlink.cli._show import print_line, show_list, show_status
    from mustlink.workflow import PredictionJob, TextPredictionResult, is_text_model, run_prediction

    if output is None and is_text_model(model):
        output = Path(f"{opt.text_stem(table)}.categories.csv")
    output = output or opt.output_name(table, keep_columns)
    job = opt.fill(PredictionJob, locals())
    with show_status(f"Reading {table.name}"):
        result = run_prediction(job)
    if isinstance(result, TextPredictionResult):
        _show_categories(result)
    else:
        _show_clusters(result)
    if result.notices:
        show_list("Notes", result.notices, len(result.notices))
    what = "Categories" if isinstance(result, TextPredictionResult) else "Clusters"
    print_line(f"{what} written to {output}", whole=True)


def _show_clusters(result: PredictionResult) -> None:
    """Print how many rows each cluster of the model got."""
    sizes, model = result.sizes, result.model
    clusters = sorted({*range(len(model.clusters)), *sizes} - {-1})
    made_of = f"the {count(len(model.clusters), 'cluster')} of a model of {count(model.n_rows, 'row')}"
    named = {str(cluster): sizes.get(cluster, 0) for cluster in clusters}
    _show_sizes(f"{count(len(result.labels), 'row')} in {made_of}.", ("cluster", "rows"), named, sizes.get(-1, 0))


def _show_categories(result: TextPredictionResult) -> None:
    """Print how many texts each category of the model got."""
    sizes, names, model = result.sizes, result.model.categories, result.model
    made_of = f"the {count(len(names), 'category', 'categories')} of a model of {count(model.n_texts, 'text')}"
    named = {name: sizes.get(number, 0) for number, name in enumerate(names)}
    _show_sizes(f"{count(len(result.labels), 'text')} in {made_of}.", ("category", "texts"), named, sizes.get(-1, 0))


def _show_sizes(headline: str, headings: tuple[str, str], sizes: dict[str, int], n_none: int) -> None:
    """Print a table of sizes."""
    from rich.text import Text

    from mustlink.cli._show import console, make_table, print_line

    print_line(headline, "bold")
    print_line()
    table = make_table()
    for heading in (*headings, "share"):
        table.add_column(heading, justify="left" if heading == "category" else "right")
    n_rows = sum(sizes.values()) + n_none
    for name, size in {**sizes, **({"none": n_none} if n_none else {})}.items():
        table.add_row(Text(name), f"{size:,}", f"{size / n_rows:.1%}")
    console().print(table)
    print_line()
