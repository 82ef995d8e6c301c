"""Sphinx configuration. ``make docs`` builds the site into ``build/docs``; a warning is an error there."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from nary.version import __version__

project = "Nary"
author = "The Nary developers"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "cli_reference", "root_pages"]

highlight_language = "none"  # a block without a language is output, or commands
smartquotes = False  # or --option becomes –option

html_theme = "furo"
html_title = f"Nary {__version__}"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

myst_enable_extensions = ["html_image"]  # screenshots with a width are written as <img>, which GitHub shows, too
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]  # RDF 1.2 is newer than the highlighting of Turtle

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
autodoc_inherit_docstrings = False
nitpick_ignore_regex = [("py:class", ".*")]  # types in signatures need no page of their own; functions and data do
