"""Sphinx extension: the pages in the root of the repository, such as ``CHANGELOG.md``, as pages of the site.

In ``docs/`` each is a short page that links to the file. The site shows the file itself, and links to it lead there.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

_PAGES = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md", "security": "SECURITY.md"}


def _replace(app: Sphinx, name: str, source: list[str]) -> None:
    if name in _PAGES:
        text = (Path(app.srcdir).parent / _PAGES[name]).read_text(encoding="utf-8")
        source[0] = re.sub(r"\]\((?!\w+:|#)", "](../", text).replace("](../docs/", "](")
    for page, file in _PAGES.items():
        source[0] = re.sub(rf"\]\((?:\.\./)+{re.escape(file)}", f"](/{page}.md", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", _replace)
    return {"parallel_read_safe": True}
