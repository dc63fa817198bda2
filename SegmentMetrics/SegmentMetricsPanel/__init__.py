"""The parts of the Segment Metrics panel; only what needs Qt, everything else is in SegmentMetricsLib."""
