"""Access to the segments of segmentation nodes by ID and by name."""

from SegmentMetricsLib.mrml.inputs import nameOf


def segmentIDs(node) -> tuple[str, ...]:
    """Return the IDs of a segmentation node's segments."""
    return node.GetSegmentation().GetSegmentIDs() if node and node.GetSegmentation() else ()


def segmentName(node, identifier: str) -> str:
    """Return a segment's name, or "" if there is no such segment."""
    return nameOf(node.GetSegmentation(), identifier) if identifier in segmentIDs(node) else ""


def segmentNames(node) -> list[str]:
    """Return the distinct names of a segmentation node's segments."""
    return list(dict.fromkeys(nameOf(node.GetSegmentation(), identifier) for identifier in segmentIDs(node)))


def segmentOfName(node, name: str | None) -> str:
    """Return the ID of the first segment with a name, or "" if there is none."""
    return next((i for i in segmentIDs(node) if name and nameOf(node.GetSegmentation(), i) == name), "")
