"""How Sphinx builds the pages. Nothing is fetched from outside."""

import re

from mustlink import __version__

project = "mustlink"
author = "The mustlink developers"
copyright = "2026, The mustlink developers"
release = version = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples"]
templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_title = "mustlink"
html_show_sourcelink = False
html_sidebars = {"index": [], "benchmarks": [], "cite": []}
html_theme_options = {
    "github_url": "https://github.com/mustlink/mustlink",
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_prev_next": False,
    "navigation_with_keys": False,
    "logo": {"text": "mustlink"},
}

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "within_subsection_order": "ExampleTitleSortKey",
    # The last line of a cell is shown as in a notebook: the HTML form of tables, clusterers and links.
    "capture_repr": ("_repr_html_", "__repr__"),
    # These lines draw, and return what nobody wants to see.
    "ignore_repr_types": r"matplotlib[text, axes, legend]",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 60,
    "remove_config_comments": True,
}


def escape_initials(app, what, name, obj, options, lines):
    """Keep a reference that begins with the initial of an author, "S. Basu", from becoming a list item S."""
    lines[:] = [re.sub(r"^(\s*[A-Z])\. ", r"\1\\. ", line) for line in lines]


def setup(app):
    app.connect("autodoc-process-docstring", escape_initials, priority=600)  # after numpydoc
