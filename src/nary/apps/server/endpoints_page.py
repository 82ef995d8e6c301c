"""A plain page that lists the endpoints."""

from collections.abc import Mapping
from html import escape
from typing import Any

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Nary: endpoints</title>
<h1>Endpoints</h1>
<p>Machines read <a href="/openapi.json">/openapi.json</a>; people may prefer <a href="/">the explorer</a>.</p>
<dl>
{entries}
</dl>
</html>
"""


def endpoints_page(schema: Mapping[str, Any]) -> str:
    """The endpoints of an OpenAPI description as HTML."""
    entries = [
        f"<dt><code>{method.upper()} {escape(path)}</code></dt><dd>{escape(operation['description'])}</dd>"
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
    ]
    return _PAGE.format(entries="\n".join(entries))
