"""Whether the entropy of counts reaches a bound, decided without rounding errors.

An entropy of exactly log l is enough, and floating-point numbers cannot tell it from one just below.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction

__all__ = ["has_entropy", "perplexity"]

# Entropies closer to the bound than this are compared with more digits.
CLOSE = 1e-9
FIRST_DIGITS = 50
# Digits that the sum of the logarithms may lose.
LOST_DIGITS = 10


def perplexity(counts: Sequence[int]) -> float:
    """Return the exponential of the entropy of positive counts."""
    total = sum(counts)
    return math.exp(-math.fsum(number / total * math.log(number / total) for number in counts))


def has_entropy(counts: Sequence[int], needed: float) -> bool:
    """Return whether the entropy of positive counts c with sum n is at least log l.

    That is n log n - sum of c log c >= n log l. Near the bound it is computed with more and more digits, after it is
    known that the two sides are not equal.
    """
    measured = perplexity(counts)
    if abs(measured - needed) > CLOSE * needed:
        return measured > needed
    frequencies = Counter(map(int, counts))
    excess = _decide(frequencies, needed, FIRST_DIGITS)
    if excess is None and _exact_perplexity(frequencies) == Fraction(needed):
        return True
    digits = FIRST_DIGITS
    while excess is None:
        digits *= 2
        excess = _decide(frequencies, needed, digits)
    return excess


def _decide(frequencies: Counter[int], needed: float, digits: int) -> bool | None:
    """Return whether the entropy is above log l, computed with so many digits; None if these are too few."""
    context = Context(prec=digits)
    total = sum(number * times for number, times in frequencies.items())
    gain = context.multiply(Decimal(total), context.ln(Decimal(total)))
    largest = gain
    for number, times in frequencies.items():
        gain = context.subtract(gain, context.multiply(Decimal(number * times), context.ln(Decimal(number))))
    gain = context.subtract(gain, context.multiply(Decimal(total), context.ln(Decimal(needed))))
    # The number of terms is below the total, and none is much larger than the first.
    error = (largest + total).scaleb(LOST_DIGITS - digits) * len(frequencies)
    return None if abs(gain) <= error else gain > 0


def _exact_perplexity(frequencies: Counter[int]) -> Fraction | None:
    """Return the n-th root of n ** n / product of c ** c if it is rational, by the prime factors; None if it is not."""
    total = sum(number * times for number, times in frequencies.items())
    exponents: Counter[int] = Counter()
    for number, power in [(total, total), *((number, -number * times) for number, times in frequencies.items())]:
        for prime, exponent in _prime_factors(number).items():
            exponents[prime] += power * exponent
    if any(exponent % total for exponent in exponents.values()):
        return None
    return math.prod(
        (Fraction(prime) ** (exponent // total) for prime, exponent in exponents.items()), start=Fraction(1)
    )


def _prime_factors(number: int) -> Counter[int]:
    """Return the exponent of each prime factor, by trial division."""
    factors: Counter[int] = Counter()
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            factors[divisor] += 1
            number //= divisor
        divisor += 1
    if number > 1:
        factors[number] += 1
    return factors
