"""Print the dependencies of the package and its extras at the lowest versions that ``pyproject.toml`` allows.

torch is left out: it is large, and the lowest version would have to be downloaded each time.
"""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
for requirement in [*project["dependencies"], *(each for extra in extras if extra != "dev" for each in extras[extra])]:
    name, version = re.match(r"([\w.-]+)>=([\d.]+)", requirement).groups()
    if name != "torch":
        print(f"{name}=={version}")  # noqa: T201
