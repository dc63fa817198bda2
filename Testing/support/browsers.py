"""Chromium without a window, for what reports look like."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

# WebGL without a graphics card
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")


def chromium() -> str | None:
    """Return the path of a Chromium or Chrome on this computer, None without one."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for path in map(shutil.which, names) if path), None)


@contextmanager
def headless() -> Iterator:
    """Give a headless browser, of playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield found
        found.close()
