"""Clusters of useful size: minimum and maximum sizes, balance, existential constraints, private publishing."""

from mustlink.sizes._assign import Assignment, assign
from mustlink.sizes._bounds import check_sizes

__all__ = ["Assignment", "assign", "check_sizes"]
