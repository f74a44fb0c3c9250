"""``mustlink cluster``: a table and links in, clusters out."""

from __future__ import annotations

import shlex
import sys
from contextlib import nullcontext

import typer

from mustlink.cli import _options as opt
from mustlink.cli._errors import REMEDIES, report_errors

__all__ = ["cluster"]


@report_errors
def cluster(
    context: typer.Context,
    table: opt.LargeTableFile,
    links: opt.OptionalLinksFile = None,
    n_clusters: opt.OptionalClusters = None,
    method: opt.Method = "boost",
    estimator: opt.Base = None,
    links_are: opt.LinksAre = "estimated",
    id_column: opt.IdColumn = None,
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
    contradictions: opt.Contradictions = "raise",
    unknown_ids: opt.UnknownIds = "raise",
    size_min: opt.MinSize = None,
    size_max: opt.MaxSize = None,
    graph: opt.Graph = None,
    relax: opt.Relax = False,
    output: opt.Output = None,
    keep_columns: opt.KeepColumns = False,
    report: opt.Report = None,
    save_model: opt.SaveModel = None,
    random_state: opt.Seed = 0,
    n_init: opt.Starts = None,
    in_blocks: opt.InBlocks = None,
    debug: opt.Debug = False,
) -> None:
    """Cluster a table, with links and labels where you have them.

    Prints the clusters and how each differs from the rest, the links that were kept and broken, and the links that
    contradict each other; writes the cluster of every row. Without --method, the rules of --never-together and
    --always-together are kept by k-means that keeps every link (--method cop). A .parquet or .npy table that would take
    more than a quarter of the memory is read in blocks by methods that can, such as pck. Exit code 0, or 2 when
    something in the input is wrong.
    """
    from mustlink.cli._interrupt import run_interruptibly
    from mustlink.cli._show import print_line, show_result, show_status
    from mustlink.workflow import Job, reads_in_blocks, run_job

    output = output or opt.output_name(table, keep_columns)
    job = opt.fill(Job, locals())
    command = shlex.join(["mustlink", *context.meta[opt.TYPED]])
    source = context.get_parameter_source("method")
    is_method_given = source is not None and source.name != "DEFAULT"
    # The method auto and the passes over blocks have progress bars of their own.
    has_bars = job.is_auto or reads_in_blocks(job, is_method_given=is_method_given)
    with nullcontext() if has_bars else show_status(f"Clustering {table.name}"):
        result = run_interruptibly(
            lambda: run_job(
                job,
                command=command,
                verbose=sys.stderr.isatty(),
                remedies=REMEDIES,
                is_method_given=is_method_given,
            )
        )
    if result.choice is not None:
        for line in str(result.choice).splitlines():
            print_line(line)
        print_line()
    show_result(job, result)
