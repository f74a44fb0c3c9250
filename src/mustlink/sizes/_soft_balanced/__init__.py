"""Mixtures with equal expected masses."""
