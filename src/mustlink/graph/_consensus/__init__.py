"""Parts of consensus clustering."""
