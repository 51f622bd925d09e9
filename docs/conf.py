"""Configure Sphinx. `make docs` builds the documentation."""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS / "_ext")]

project = "Django serving benchmark"
author = "the contributors of this project"
copyright = "2026, the contributors of this project"

extensions = ["from_code", "from_types", "from_results", "advice", "view_worth", "transfer", "explorer"]
exclude_patterns = ["_build"]
nitpicky = True
smartquotes_action = "q"  # only quotes, so that the two dashes of an option stay

html_theme = "furo"
html_title = project
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_js_files = [("accessible.js", {"defer": "defer"})]
