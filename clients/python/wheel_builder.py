"""Builds the wheel of the client with the standard library (PEP 517), so that installing it downloads nothing."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Dict, Optional

_HERE = Path(__file__).resolve().parent
_NAME = "caller_trust_client"
_SOURCES = ("caller_trust.py", "wheel_builder.py", "pyproject.toml", "README.md", "LICENSE")


def _version() -> str:
    found = re.search(r'^__version__ = "(.+)"$', (_HERE / "caller_trust.py").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def _metadata() -> str:
    head = [
        "Metadata-Version: 2.1",
        "Name: caller-trust-client",
        f"Version: {_version()}",
        "Summary: Client of a Caller Trust service: verified copies of its caches, deltas, look-ups",
        "License: Apache-2.0",
        "Requires-Python: >=3.9",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + (_HERE / "README.md").read_text()


def build_wheel(directory: str, config: Optional[Dict[str, Any]] = None, metadata: Optional[str] = None) -> str:
    """Called by pip: writes the wheel to a directory and returns its name."""
    info = f"{_NAME}-{_version()}.dist-info"
    files = {
        "caller_trust.py": (_HERE / "caller_trust.py").read_bytes(),
        f"{info}/METADATA": _metadata().encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: wheel_builder\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/LICENSE": (_HERE / "LICENSE").read_bytes(),
    }
    record = "".join(f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"{_NAME}-{_version()}-py3-none-any.whl"
    with zipfile.ZipFile(Path(directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return wheel


def build_sdist(directory: str, config: Optional[Dict[str, Any]] = None) -> str:
    """Called by `python -m build`: writes the archive of sources to a directory and returns its name."""
    base = f"{_NAME}-{_version()}"
    with tarfile.open(Path(directory) / f"{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name in _SOURCES:
            archive.add(_HERE / name, f"{base}/{name}")
        data = _metadata().encode()
        entry = tarfile.TarInfo(f"{base}/PKG-INFO")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return f"{base}.tar.gz"


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
