"""The parts of the Segment Metrics panel. Only code that needs Qt is here; everything else is in SegmentMetricsLib."""
