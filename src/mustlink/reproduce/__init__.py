"""The papers' experiments: protocol in, table and figure out."""

from mustlink.reproduce._cell import Cell
from mustlink.reproduce._finding import find_protocol, papers
from mustlink.reproduce._pages import Page
from mustlink.reproduce._protocol import Protocol
from mustlink.reproduce._results import Results
from mustlink.reproduce._running import kept_results, run_cells
from mustlink.reproduce._store import Record, ResultStore

__all__ = [
    "Cell",
    "Page",
    "Protocol",
    "Record",
    "ResultStore",
    "Results",
    "find_protocol",
    "kept_results",
    "papers",
    "run_cells",
]
