"""Quantities that the measurements of a pair are computed from: one file per family, each computed on first use.

The functions take a pair, and Pair.once() caches their results. Formulas on arrays are in metrics; the names of the
numbers are in the registry.
"""
