"""k-means with soft balance."""
