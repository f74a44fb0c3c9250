"""The parts of the clusterers with sizes for those who write another one: the pivot-movement problem.

It knows counts, thresholds and gains, but no rows and no distances.
"""

from mustlink.sizes._existential._movement import CheckedSums, Items, Schedule, schedule_moves

__all__ = ["CheckedSums", "Items", "Schedule", "schedule_moves"]
