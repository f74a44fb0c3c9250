"""How the clusterers with sizes are checked."""

from __future__ import annotations

from conformance import Case

CASES: dict[str, Case] = {
    "FrequencySensitiveKMeans": Case(
        None, [{"update": "none"}, {"update": "batch"}, {"metric": "cosine"}, {"metric": "cosine", "update": "stream"}]
    ),
}
