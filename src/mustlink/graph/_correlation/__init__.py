"""Parts of correlation clustering."""
