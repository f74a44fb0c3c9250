"""How the clusterers of graphs are checked."""

from __future__ import annotations

from conformance import Case

CASES: dict[str, Case] = {
    "ConnectedKCenter": Case(None, [{"solver": "approx"}, {"metric": "cosine"}]),
    "ConnectedKMeans": Case(None, [{"step": "published"}, {"metric": "cosine"}, {"init": "farthest"}]),
    "NetScan": Case(None, [{"step": "published"}, {"metric": "cosine"}, {"outlier_jump": 1.5}]),
}
