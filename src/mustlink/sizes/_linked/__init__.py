"""Assignments that keep links together with sizes."""
