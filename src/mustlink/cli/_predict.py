"""``mustlink predict``: new rows into the clusters of a saved model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mustlink._spelling import count
from mustlink.cli import _options as opt
from mustlink.cli._errors import report_errors

if TYPE_CHECKING:
    from mustlink.workflow import PredictionResult

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
    output: opt.Output = None,
    keep_columns: opt.KeepColumns = False,
    debug: opt.Debug = False,
) -> None:
    """Put new rows into the clusters of a saved model.

    Reads the columns that the model needs, by their names, and writes the cluster of every row. Links play no part.
    Exit code 0, or 2 when something in the input is wrong.
    """
    from mustlink.cli._show import print_line, show_list, show_status
    from mustlink.workflow import PredictionJob, run_prediction

    output = output or opt.output_name(table, keep_columns)
    job = opt.fill(PredictionJob, locals())
    with show_status(f"Reading {table.name}"):
        result = run_prediction(job)
    _show_sizes(result)
    if result.notices:
        show_list("Notes", result.notices, len(result.notices))
    print_line(f"Clusters written to {output}", whole=True)


def _show_sizes(result: PredictionResult) -> None:
    """Print how many rows each cluster of the model got."""
    from mustlink.cli._show import console, make_table, print_line

    n_rows, n_clusters = len(result.labels), len(result.model.clusters)
    made_of = f"the {count(n_clusters, 'cluster')} of a model of {count(result.model.n_rows, 'row')}"
    print_line(f"{count(n_rows, 'row')} in {made_of}.", "bold")
    print_line()
    table = make_table()
    table.add_column("cluster", justify="right")
    table.add_column("rows", justify="right")
    table.add_column("share", justify="right")
    sizes = result.sizes
    for cluster in sorted({*range(n_clusters), *sizes} - {-1}):
        size = sizes.get(cluster, 0)
        table.add_row(str(cluster), f"{size:,}", f"{size / n_rows:.1%}")
    if -1 in sizes:
        table.add_row("none", f"{sizes[-1]:,}", f"{sizes[-1] / n_rows:.1%}")
    console().print(table)
    print_line()
