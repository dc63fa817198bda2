"""Settings of the documentation, which is built by `python -m sphinx -W --keep-going -n docs docs/_build`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from SegmentMetricsLib.base.version import __version__  # noqa: E402

project = "SegmentMetrics"
author = "SegmentMetrics contributors"
copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
napoleon_google_docstring = False  # docstrings are in numpydoc's form

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_fence_as_directive = ["math"]  # which GitHub shows as formulas, too
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"SegmentMetrics {__version__}"
html_logo = "../Resources/SegmentMetrics.png"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_copy_source = html_show_sourcelink = False
html_show_copyright = False
pygments_style, pygments_dark_style = "friendly", "monokai"

# The documentation of the functions on Slicer's nodes is the same where Slicer's classes are not installed.
autodoc_mock_imports = [] if importlib.util.find_spec("slicer") else ["slicer"]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
default_role = "code"
smartquotes = False  # quotes in descriptions are those of Python

# Types of other packages and of this one's inside, which have no page here.
nitpick_ignore_regex = [
    ("py:.*", r"(?!SegmentMetricsLib).*"),
    ("py:class", r".*\.T"),  # type variables
    # what passes from one part of the library to another
    (
        "py:class",
        r"SegmentMetricsLib\..*\.(Field|Ignored|Part|Match|Pairing|BoundaryPair|Case|CaseResult|ClosestSurface|Column|"
        r"ComparedPair|Comparison|Function|ObserverCase|GrayImage|Kept|Kind|MultiLabel|ObservedOutcome|Outcome|"
        r"PairSpread|Spread)",
    ),
]
