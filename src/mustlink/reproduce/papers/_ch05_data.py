"""The data of chapter 5 that can be generated: four clouds, and the sites of an image of textures and gray levels."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import uniform_filter
from scipy.signal import fftconvolve

from mustlink._types import Floats, Ints

# Four clouds: the gap between left and right is smaller than that between upper and lower.
HALF_WIDTH, HALF_HEIGHT, SCALE = 1.0, 1.5, 0.3
N_POINTS = 200

IMAGE_SIZE = 512
N_SITES = 101  # on each side
# Sites are 5 pixels apart, and the features of a site are those of the pixels around it.
SITE_STEP = 5
WINDOW = 9
N_BINS = 12
ORIENTATIONS = (0.0, 45.0, 90.0, 135.0)
WAVELENGTHS = (2.0, 4.0, 8.0)
# The textures are noise in one direction and of one wavelength; the other two regions differ in the mean gray level.
TEXTURES = ((45.0, 8.0), (0.0, 4.0), (90.0, 6.0))
TEXTURE_CONTRAST, TEXTURE_NOISE = 0.2, 0.05
GRAYS, GRAY_NOISE = (0.47, 0.53), 0.2


def four_clouds(seed: int) -> tuple[Floats, Ints]:
    """Four round clouds of 50 points at (+-1, +-1.5) with the standard deviation 0.3; the classes are left and right.

    The chapter shows such a set and gives no numbers. Two clusters without links are the upper and the lower clouds.
    """
    corners = [(x, y) for x in (-HALF_WIDTH, HALF_WIDTH) for y in (-HALF_HEIGHT, HALF_HEIGHT)]
    noise = np.random.RandomState(seed).normal(scale=SCALE, size=(N_POINTS, 2))
    return np.repeat(corners, N_POINTS // 4, axis=0) + noise, np.repeat([0, 1], N_POINTS // 2)


def mondrian_regions() -> Ints:
    """Return the region of every pixel: three textures (0, 1, 2) and two gray levels (3, 4), in rectangles."""
    region = np.empty((IMAGE_SIZE, IMAGE_SIZE), dtype=np.int64)
    region[:200, :300] = 0
    region[:200, 300:] = 3
    region[200:, :180] = 1
    region[200:, 180:380] = 4
    region[200:, 380:] = 2
    return region


def mondrian_image() -> Floats:
    """Return the image: three grains of different direction and wavelength, and two noisy gray levels."""
    rng = np.random.RandomState(0)
    shape = (IMAGE_SIZE, IMAGE_SIZE)
    layers = []
    for orientation, wavelength in TEXTURES:
        grain = fftconvolve(rng.standard_normal(shape), gabor(wavelength, orientation).real, mode="same")
        layers.append(0.5 + TEXTURE_CONTRAST * grain / grain.std())
    region = mondrian_regions()
    image = np.choose(region, [*layers, *(np.full(shape, gray) for gray in GRAYS)])
    noise = np.where(region < len(TEXTURES), TEXTURE_NOISE, GRAY_NOISE)
    return np.clip(image + noise * rng.standard_normal(shape), 0.0, 1.0)


def site_features(image: Floats) -> Floats:
    """Return 24 features of each site: shares of 12 gray levels, and mean responses of 12 Gabor filters around it."""
    at_sites = SITE_STEP // 2 + SITE_STEP * np.arange(N_SITES)
    bins = np.minimum((N_BINS * image).astype(int), N_BINS - 1)
    maps = [uniform_filter((bins == level).astype(np.float64), WINDOW) for level in range(N_BINS)]
    for wavelength in WAVELENGTHS:
        for orientation in ORIENTATIONS:
            response = np.abs(fftconvolve(image - image.mean(), gabor(wavelength, orientation), mode="same"))
            maps.append(uniform_filter(response, WINDOW))
    return np.stack([values[np.ix_(at_sites, at_sites)].ravel() for values in maps], axis=1)


def gabor(wavelength: float, orientation: float) -> Floats:
    """Return a complex Gabor filter whose envelope has the standard deviation of half a wavelength or more."""
    scale = max(0.5 * wavelength, 1.5)
    reach = int(np.ceil(3 * scale))
    down, across = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    angle = np.deg2rad(orientation)
    along = across * np.cos(angle) + down * np.sin(angle)
    envelope = np.exp(-(down**2 + across**2) / (2 * scale**2))
    wave = np.exp(2j * np.pi * along / wavelength)
    # Without a response to constant gray.
    wave -= (wave * envelope).sum() / envelope.sum()
    return np.asarray(envelope * wave / envelope.sum())


def mondrian_sites() -> tuple[Floats, Ints]:
    """Return the features of 101 x 101 sites, each with mean 0 and variance 1, and their regions.

    The chapter shows the image and gives no numbers. The gray levels of two regions differ by a third of the noise, so
    that their difference is small beside that of the textures.
    """
    features = site_features(mondrian_image())
    at_sites = SITE_STEP // 2 + SITE_STEP * np.arange(N_SITES)
    y = mondrian_regions()[np.ix_(at_sites, at_sites)].ravel()
    return (features - features.mean(axis=0)) / np.maximum(features.std(axis=0), 1e-9), y
