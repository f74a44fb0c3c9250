"""Boosting of rows in blocks: few rows are in memory, and all others are read in passes."""
