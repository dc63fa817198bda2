"""Findings: sentences that a reader of the numbers should know about a pair.

pairfindings: everything that is found about a pair, alarms first.
cautions: where a chosen metric says less than it seems; pairfindings asks them, too.
"""

from __future__ import annotations
