"""Sphinx settings of the site that docs/build_docs.py builds (./run.sh docs)."""
import os

project = "Regatta"
author = copyright = "The Regatta developers"
version = release = os.environ.get("REGATTA_VERSION", "")
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_update_mathjax = False
exclude_patterns = ["_static"]
suppress_warnings = ["myst.header"]  # pages of the repository may begin below the first level
highlight_language = "none"
html_theme = "furo"
html_title = "Regatta"
html_static_path = ["_static"]
html_extra_path = ["extra"]
html_css_files = ["katex/katex.min.css", "site.css"]
html_js_files = [("katex/katex.min.js", {"defer": "defer"})]
mathjax_path = "formulas.js"  # on pages with formulas only; KaTeX of the site's own, no network
mathjax_options = {"defer": "defer"}
html_copy_source = html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
