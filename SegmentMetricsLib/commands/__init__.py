"""The commands of segment-metrics, one a file: each adds itself to the parser and knows how it is run.

What takes time to import is imported by the functions that need it, so that the help appears at once.
"""
