"""The examples of docstrings and of the readme run as they stand."""

from __future__ import annotations

import doctest
import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import zariz
import zariz.aio
import zariz.arrow
import zariz.gmpy
import zariz.jwt
import zariz.primes
from zariz import _zariz

README = Path(__file__).parent.parent / "README.md"
MOVING = Path(__file__).parents[2] / "docs" / "moving.md"


def documented() -> list[tuple[str, Any]]:
    found: dict[str, Any] = {}
    for module in (zariz, zariz.aio, zariz.arrow, zariz.gmpy, zariz.jwt, zariz.primes, _zariz):
        found[module.__name__] = module
        for name, value in vars(module).items():
            if not name.startswith("_") and callable(value) and str(getattr(value, "__module__", "")).startswith("zariz"):
                found[f"{module.__name__}.{name}"] = value
                if isinstance(value, type):
                    members = ((n, v) for n, v in vars(value).items() if not n.startswith("_") and callable(v))
                    found.update((f"{module.__name__}.{name}.{n}", v) for n, v in members)
    return list(found.items())


@pytest.mark.parametrize("name,value", documented(), ids=lambda x: x if isinstance(x, str) else "")
def test_docstrings(name: str, value: Any) -> None:
    text = value.__doc__
    assert text, f"{name} has no docstring"
    parts = name.split(".")
    module = sys.modules.get(".".join(parts[:2]), zariz)
    example = doctest.DocTestParser().get_doctest(text, dict(vars(module)), name, None, 0)
    assert doctest.DocTestRunner().run(example).failed == 0


def test_the_readme(tmp_path: Path) -> None:
    programs = re.findall(r"```python\n(.*?)```", README.read_text(), re.S)
    assert programs
    program = "\n".join(programs)
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_moving_from_other_libraries(tmp_path: Path) -> None:
    programs = re.findall(r"```python\n(.*?)```", MOVING.read_text(), re.S)
    assert len(programs) == 3
    for program in programs:
        result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr


def test_info() -> None:
    info = zariz.info()
    assert info["version"] == zariz.__version__ and info["engine"] in info["engines"]
    assert info["lanes"] in (1, 4, 8) and info["threads"] >= 1


def test_what_is_installed() -> None:
    """The readme, the licences, a list of what is in the binary, types, and a binary for every newer Python."""
    distribution = importlib.metadata.distribution("zariz")
    names = [str(file).split(".dist-info/")[-1] for file in distribution.files or []]
    assert {"licenses/LICENSE-APACHE", "licenses/LICENSE-MIT", "zariz/py.typed", "zariz/_zariz.pyi"} <= set(names)
    boms = [file for file in distribution.files or [] if ".dist-info/sboms/" in str(file)]
    components = [part["name"] for file in boms for part in json.loads(file.read_text())["components"]]
    assert {"zariz", "zariz-kernels", "pyo3"} <= set(components), boms
    assert str(distribution.metadata.get_payload()).startswith("# zariz for Python")
    assert "Tag: cp311-abi3-" in (distribution.read_text("WHEEL") or "")
