"""Active learning of links: strategies that choose the pairs to ask about, and oracles that answer."""

from mustlink.active._advice import Advice
from mustlink.active._cobras import COBRAS
from mustlink.active._farthest_first import Consolidate, Explore, MinMax
from mustlink.active._npu import NPU
from mustlink.active._oracles import CallbackOracle, NoisyOracle, Oracle, TerminalOracle, TruthOracle, ask
from mustlink.active._random_pairs import RandomPairs
from mustlink.active._strategy import Answer, Question, Strategy

__all__ = [
    "COBRAS",
    "NPU",
    "Advice",
    "Answer",
    "CallbackOracle",
    "Consolidate",
    "Explore",
    "MinMax",
    "NoisyOracle",
    "Oracle",
    "Question",
    "RandomPairs",
    "Strategy",
    "TerminalOracle",
    "TruthOracle",
    "ask",
]
