"""Where the project is, and where its runs go."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"
STUDIES = ROOT / "loadtests" / "studies"
SUPERVISOR = ROOT / "supervisor"
