"""Findings: sentences that a reader of the numbers should know about a pair.

kinds: what a finding is, and the kinds that code depends on.
search: everything that is found about a pair, alarms first.
cautions: where a chosen metric says less than it seems; search asks them, too.
recognition: the kind of a finding, from the sentence that a file or a scene has.
repeated: findings that many structures share.
"""

from __future__ import annotations
