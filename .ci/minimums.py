"""Print the dependencies of the package and its extras at the lowest versions that ``pyproject.toml`` allows.

torch is left out: it is large, and the lowest version would have to be downloaded each time. So are the trackers, which
no test of the lowest versions uses.
"""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
optional = [each for extra in extras if extra not in ("dev", "trackers") for each in extras[extra]]
for requirement in [*project["dependencies"], *optional]:
    name, version = re.match(r"([\w.-]+)>=([\d.]+)", requirement).groups()
    if name != "torch":
        print(f"{name}=={version}")  # noqa: T201
