"""The experiments of the papers, computed again: tables, figures, and which claims held."""

from mustlink.reproduce._run_paper import paper_names, run_paper
from mustlink.reproduce.engine._page import Page

__all__ = ["Page", "paper_names", "run_paper"]
