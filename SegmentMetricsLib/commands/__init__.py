"""The commands of segment-metrics, one per file; each adds itself to the parser with the function that runs it.

Slow imports are made in the functions that need them, so that the help appears at once.
"""
