"""Clusters of useful size: minimum and maximum sizes, balance, existential constraints, private publishing."""

__all__: list[str] = []
