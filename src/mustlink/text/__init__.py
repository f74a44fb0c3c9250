"""Clustering of texts from given categories: new categories around the given ones, and their terms."""

from mustlink.text._categories import Category, GivenCategory
from mustlink.text._domination import Ranking
from mustlink.text._hierarchy import truncate_taxonomy
from mustlink.text._taxonomy import TaxonomyClusterer

__all__ = ["Category", "GivenCategory", "Ranking", "TaxonomyClusterer", "truncate_taxonomy"]
