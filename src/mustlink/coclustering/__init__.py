"""Co-clustering: rows and columns of a 0/1 matrix at the same time."""

from mustlink.coclustering._binary_matrix import binarize
from mustlink.coclustering._bisets import Bisets
from mustlink.coclustering._cdkmeans import CDKMeans
from mustlink.coclustering._concepts import formal_concepts
from mustlink.coclustering._elements import mixed_links
from mustlink.coclustering._report import ConstraintCheck

__all__ = ["Bisets", "CDKMeans", "ConstraintCheck", "binarize", "formal_concepts", "mixed_links"]
