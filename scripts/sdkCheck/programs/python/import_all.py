"""Imports every module of the client. A module that names what is not there fails here, and not in the hands of its user."""

import importlib
import pathlib

import report  # noqa: F401  makes the client importable

[package] = [path.parent for path in pathlib.Path("client").glob("*/__init__.py") if path.parent.name != "test"]
for path in sorted(package.rglob("*.py")):
    importlib.import_module(".".join(path.relative_to("client").with_suffix("").parts).removesuffix(".__init__"))
