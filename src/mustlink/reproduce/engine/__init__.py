"""The engine of the reproductions: runs, their results on disk, and the pages made of them."""
