# SPDX-License-Identifier: Apache-2.0
"""Tells when mindstudio-probe, which brings a package called msprobe too, lies in the same site-packages.

The two overwrite each other's files, and uninstalling one takes files of the other away. With all our files whole this is a
warning; with damaged files it is an ImportError, since what would run is a mixture of two programs.
"""

from __future__ import annotations

import os
import warnings

_REMEDY = (
    "Keep one of the two: `pip uninstall --yes mindstudio-probe msprobe`, then install msprobe again "
    "(or use a virtual environment for each)."
)
_SHOWN_FILES = 3


def check_name_clash(package: str | None = None) -> None:
    """Warn of mindstudio-probe beside us; raise ImportError if our files are damaged. Costs the listing of one folder."""
    site_packages = os.path.dirname(package or os.path.dirname(__file__))  # pathlib costs 2 ms to import
    with os.scandir(site_packages or ".") as entries:
        names = [entry.name for entry in entries if entry.name.endswith(".dist-info")]
    other = next((name for name in names if name.startswith("mindstudio_probe-")), None)
    if other is None:
        return
    own = next((name for name in names if name.startswith("msprobe-")), None)
    title = other.removesuffix(".dist-info").replace("mindstudio_probe-", "mindstudio-probe ")
    clash = f"{title} is installed in {site_packages} beside msprobe: both are the Python package msprobe. {_REMEDY}"
    damaged = _damaged_files(site_packages, own) if own else []
    if damaged:
        shown = ", ".join(damaged[:_SHOWN_FILES]) + (", ..." if len(damaged) > _SHOWN_FILES else "")
        raise ImportError(f"{len(damaged)} of msprobe's files were overwritten or removed ({shown}). {clash}")
    warnings.warn(clash, RuntimeWarning, stacklevel=3)


def _damaged_files(site_packages: str, own: str) -> list[str]:
    """The files of our package that are not what our wheel's RECORD says; read only once a clash is known."""
    import base64  # noqa: PLC0415
    import csv  # noqa: PLC0415
    import hashlib  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    def digest_of(path: Path) -> str:
        """Spelled as in RECORD: sha256=, then base64 without padding; empty if the file is gone."""
        if not path.is_file():
            return ""
        return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode("ascii")

    record = Path(site_packages, own, "RECORD")
    if not record.is_file():
        return []
    with record.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    return [
        path
        for path, digest, _size in rows
        if path.startswith("msprobe/") and digest and digest != digest_of(Path(site_packages, path))
    ]
