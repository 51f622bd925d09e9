"""Provide hatchling's build hooks, which add the dependencies and npm packages to the wheel and the sdist."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

# The wheel only depends on the harness's packages, because runs install servers into separate environments.
SECTION = re.compile(r"# The harness\n(.*?)\n\n", re.DOTALL)
ALSO_MEASURE = {"httptools", "httpx", "uvloop", "websockets"}  # the harness needs these packages of other sections
NODE_MODULES = "build/node_modules"


class Dependencies(MetadataHookInterface):  # type: ignore[misc]
    """A hook that reads the dependencies from requirements.txt."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the project's dependencies."""
        text = Path(self.root, "requirements.txt").read_text(encoding="utf-8")
        section = SECTION.search(text)
        assert section is not None
        also = (line for line in text.splitlines() if line.partition("==")[0] in ALSO_MEASURE)
        lines = (line.partition("#")[0].strip() for line in [*section[1].splitlines(), *also])
        metadata["dependencies"] = ["pip>=24.1", *filter(None, lines)]  # pip for packages that uv can't install


class NpmPackages(BuildHookInterface):  # type: ignore[misc]
    """A hook that installs the load generator's npm packages. An sdist already contains them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the npm packages to a wheel or an sdist."""
        modules = Path(self.root, NODE_MODULES)
        lock = Path(self.root, "package-lock.json")
        made_for = modules.parent / lock.name
        if not made_for.is_file() or made_for.read_bytes() != lock.read_bytes():
            modules.parent.mkdir(exist_ok=True)
            for name in (lock.name, "package.json"):
                shutil.copy(Path(self.root, name), modules.parent)
            npm = ["npm", "ci", "--omit=dev", "--no-fund", "--no-audit", "--no-bin-links", "--ignore-scripts"]
            subprocess.run(npm, cwd=modules.parent, check=True)
        if self.target_name == "sdist":
            build_data["force_include"] |= {str(modules): NODE_MODULES, str(made_for): f"build/{lock.name}"}
        else:
            build_data["force_include"][str(modules)] = modules.name
