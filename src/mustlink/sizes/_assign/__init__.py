"""The cheapest assignment of rows to clusters of bounded sizes, and its solvers."""
