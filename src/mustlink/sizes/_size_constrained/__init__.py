"""k-means and k-medians with minimum and maximum cluster sizes."""
