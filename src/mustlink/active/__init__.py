"""Active learning of links: strategies that choose the pairs to ask about, and oracles that answer."""

from mustlink.active._asking import ask
from mustlink.active._consolidate import Consolidate
from mustlink.active._explore import Explore
from mustlink.active._minmax import MinMax
from mustlink.active._npu import NPU
from mustlink.active._oracles import CallbackOracle, NoisyOracle, Oracle, TerminalOracle, TruthOracle
from mustlink.active._random_pairs import RandomPairs
from mustlink.active._strategy import Answer, Question, Strategy

__all__ = [
    "NPU",
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
