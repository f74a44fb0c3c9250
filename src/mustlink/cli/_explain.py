"""``mustlink explain``: what sets the clusters of any tool apart."""

from __future__ import annotations

import shlex

import typer

from mustlink.cli import _options as opt
from mustlink.cli._errors import report_errors

__all__ = ["explain"]


@report_errors
def explain(
    context: typer.Context,
    clusters: opt.ClustersFile,
    table: opt.ExplainedTable = None,
    cluster_column: opt.ClusterColumn = None,
    id_column: opt.ExplainedIds = None,
    label_column: opt.LabelColumn = None,
    never_together: opt.NeverTogether = None,
    always_together: opt.AlwaysTogether = None,
    ignore: opt.Ignore = None,
    categorical: opt.Categorical = None,
    scale: opt.Scale = True,
    one_hot: opt.OneHot = True,
    missing: opt.Missing = "error",
    header: opt.Header = None,
    encoding: opt.Encoding = None,
    delimiter: opt.Delimiter = None,
    decimal: opt.Decimal = None,
    sheet: opt.Sheet = None,
    links: opt.LinksOption = None,
    contradictions: opt.Contradictions = "raise",
    unknown_ids: opt.UnknownIds = "raise",
    report: opt.Report = None,
    debug: opt.Debug = False,
) -> None:
    """Show what sets clusters apart, whichever tool found them.

    Prints the size of each cluster, the row nearest to its mean and the columns in which it differs from all rows, as
    mustlink cluster does, and with --links the links that the clusters keep and break. Exit code 0, or 2 when something
    in the input is wrong.
    """
    from mustlink.cli._show import print_line, show_status, show_summary
    from mustlink.workflow import ExplanationJob, run_explanation

    given = locals()
    if table is None:
        given |= {"table": clusters, "clusters": None}
    job = opt.fill(ExplanationJob, given)
    with show_status(f"Reading {clusters.name}"):
        result = run_explanation(job, command=shlex.join(["mustlink", *context.meta[opt.TYPED]]))
    show_summary(result.summary)
    if report is not None:
        print_line(f"Report written to {report}", whole=True)
