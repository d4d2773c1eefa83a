"""How Sphinx builds the documentation; the pages are plain Markdown and read well without it."""

from importlib.metadata import version as installed

project = "shoal"
author = "the shoal authors"
copyright = "2026, the shoal authors"
version = release = installed("shoal")

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4  # links to headings are written as on code hosts: page.md#heading
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"shoal {version}"
html_static_path: list[str] = []
nitpicky = True
