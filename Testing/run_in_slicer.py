"""Drive the real panel in a real Slicer; print what was checked and exit with 1 if anything failed.

Slicer --no-splash --additional-module-paths SegmentMetrics --python-script Testing/run_in_slicer.py
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

import slicer

sys.path[:0] = [str(Path(__file__).resolve().parent / folder) for folder in ("slicer", "support")]


def main() -> int:
    import panel_checks

    session = panel_checks.Session()
    failures = 0
    for check in panel_checks.CHECKS:
        try:
            check(session)
        except Exception:
            failures += 1
            print(f"FAILED  {check.__name__}: {check.__doc__.splitlines()[0]}\n{traceback.format_exc()}", flush=True)
        else:
            print(f"passed  {check.__name__}: {check.__doc__.splitlines()[0]}", flush=True)
    print(f"{len(panel_checks.CHECKS) - failures} of {len(panel_checks.CHECKS)} checks passed", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        status = main()
    except Exception:  # Slicer would only print it and stay open
        traceback.print_exc()
        status = 1
    slicer.util.exit(status)
