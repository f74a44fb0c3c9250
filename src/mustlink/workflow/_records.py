"""A table of records that are compared by their texts: every column as it is written, and no features."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from mustlink.tables import read_table
from mustlink.workflow._loading import LoadedTable, TableOptions, list_rules, read_rules

__all__ = ["load_records"]


def load_records(options: TableOptions, columns: Collection[str] | None = None) -> LoadedTable:
    """Read a table of records, all cells as text.

    Parameters
    ----------
    options : TableOptions
        The file, its column of ids, the columns of groups, and how the file is written; the options for features are
        not used.
    columns : collection of str or None, default=None
        The columns to read beside that of the ids; None reads all that are not ignored.

    Returns
    -------
    LoadedTable
        The table with all its rows, of which `X` has no columns.

    Examples
    --------
    >>> from mustlink.datasets import sample_paths
    >>> from mustlink.workflow import TableOptions, load_records
    >>> table = load_records(TableOptions(sample_paths()[0], id_column="customer"))
    >>> table.X.shape, table.row_names[:2]
    ((240, 0), ['C001', 'C002'])
    """
    used = [*([options.id_column] if options.id_column else []), *options.never_together, *options.always_together]
    if columns is None:
        # What the columns are called is only known after a first reading.
        names = read_table(options.table, columns=[], **options.reading).left_out
        columns = [name for name in names if name not in options.ignore]
    wanted = list(dict.fromkeys([*used, *columns]))
    source = read_table(options.table, text=wanted, columns=wanted, ignore=options.ignore, **options.reading)
    rows = np.arange(source.n_rows)
    ids = None if options.id_column is None else source.row_ids(options.id_column)
    links_of_columns = list_rules(options)
    rules, about_rules = read_rules(source, rows, links_of_columns)
    notices = (*source.notices, *about_rules)
    return LoadedTable(np.empty((source.n_rows, 0)), rows, (), notices, source, ids, None, rules, links_of_columns)
