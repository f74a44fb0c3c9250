"""The data of chapter 4: artificial sets, the waveform generator, and an image of four textures."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter, rotate
from sklearn.decomposition import PCA

from mustlink._types import Array, Floats, Ints

ROWS_PER_CLASS = 200
# The image of textures: blocks in a square, pixels of a block, and principal components that are kept.
BLOCKS = 40
BLOCK_PIXELS = 7
N_DIRECTIONS = 5


def four_clouds() -> tuple[Floats, Ints]:
    """25 rows of each of four round Gaussians around (+-1, +-1), at a standard deviation of 0.35.

    The class is the side, left or right. With 20 links, two rows of five are linked.
    """
    rng = np.random.RandomState(0)
    centers = np.array([(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)])
    X = np.repeat(centers, 25, axis=0) + 0.35 * rng.standard_normal((100, 2))
    return X, np.repeat([0, 0, 1, 1], 25)


def two_gaussians(seed: int, shapes: list[Array], means: list[tuple[float, float]]) -> tuple[Floats, Ints]:
    """Draw the classes of an artificial set from Gaussians."""
    rng = np.random.RandomState(seed)
    parts = [rng.multivariate_normal(mean, shape, ROWS_PER_CLASS) for mean, shape in zip(means, shapes, strict=True)]
    return np.concatenate(parts), np.repeat(np.arange(len(parts)), ROWS_PER_CLASS)


def stripes() -> tuple[Floats, Ints]:
    """Two long parallel Gaussians that overlap: variances 4 and 0.25, one unit and a half apart."""
    shape = np.diag([4.0, 0.25])
    return two_gaussians(1, [shape, shape], [(0.0, 0.75), (0.0, -0.75)])


def crossing() -> tuple[Floats, Ints]:
    """Two long Gaussians that cross at their means: variances 4 and 0.1."""
    return two_gaussians(2, [np.diag([4.0, 0.1]), np.diag([0.1, 4.0])], [(0.0, 0.0), (0.0, 0.0)])


def halves() -> tuple[Floats, Ints]:
    """Two classes of two round clouds each, which no Gaussian has: the larger gap is inside the classes."""
    rng = np.random.RandomState(3)
    centers = np.array([(-1.0, -1.25), (-1.0, 1.25), (1.0, -1.25), (1.0, 1.25)])
    X = np.repeat(centers, ROWS_PER_CLASS // 2, axis=0) + 0.5 * rng.standard_normal((2 * ROWS_PER_CLASS, 2))
    return X, np.repeat([0, 0, 1, 1], ROWS_PER_CLASS // 2)


def waveform(n_rows: int = 5000) -> tuple[Floats, Ints]:
    """The waveforms of Breiman, Friedman, Olshen and Stone (1984): a random mean of two of three triangles, and noise.

    The triangles have the height 6 and are centered at 11, 15 and 7 of 21 points; the noise has the variance one.
    """
    rng = np.random.RandomState(4)
    points = np.arange(1, 22)
    triangles = np.array([np.maximum(6 - abs(points - center), 0) for center in (11, 15, 7)])
    y = rng.randint(3, size=n_rows)
    one, other = np.array([(0, 1), (0, 2), (1, 2)])[y].T
    share = rng.uniform(size=(n_rows, 1))
    X = share * triangles[one] + (1 - share) * triangles[other] + rng.standard_normal((n_rows, len(points)))
    return X, y.astype(np.int64)


def four_textures() -> tuple[Floats, Ints]:
    """The blocks of an image of four textures, as their first principal components, row by row.

    The image has 40 x 40 blocks of 7 x 7 pixels. A texture is white noise that is smoothed, more along one direction
    (at 0, 45, 90 and 135 degrees), at equal variance, plus noise of half its standard deviation. The regions meet in a
    point off the center, with wavy borders.
    """
    rng = np.random.RandomState(5)
    side = BLOCKS * BLOCK_PIXELS
    regions = texture_regions()
    pixels = np.kron(regions, np.ones((BLOCK_PIXELS, BLOCK_PIXELS), dtype=np.int64))
    image = np.empty((side, side))
    for number, angle in enumerate((0, 45, 90, 135)):
        image[pixels == number] = oriented_noise(rng, side, angle)[pixels == number]
    image += 0.5 * rng.standard_normal(image.shape)
    blocks = image.reshape(BLOCKS, BLOCK_PIXELS, BLOCKS, BLOCK_PIXELS).swapaxes(1, 2).reshape(BLOCKS**2, -1)
    return PCA(N_DIRECTIONS, random_state=0).fit_transform(blocks), regions.ravel()


def texture_regions() -> Ints:
    """Return the texture of every block, in rows and columns."""
    down, across = np.mgrid[:BLOCKS, :BLOCKS] / BLOCKS
    is_lower = down > 0.45 + 0.08 * np.sin(3 * np.pi * across)
    is_right = across > 0.55 + 0.08 * np.sin(3 * np.pi * down)
    return 2 * is_lower.astype(np.int64) + is_right


def oriented_noise(rng: np.random.RandomState, side: int, angle: float) -> Floats:
    """Return noise of variance one that is smooth along a direction."""
    noise = gaussian_filter(rng.standard_normal((2 * side, 2 * side)), (1.0, 8.0))
    turned: Floats = rotate(noise, angle, reshape=False, order=1)
    middle = turned[side // 2 : side // 2 + side, side // 2 : side // 2 + side]
    return middle / middle.std()
