"""What the measurements of a pair are computed from: a family a file, each computed when first asked for.

The functions take a pair, and Pair.once() keeps what they return. Formulas on arrays are in metrics; what the numbers
are called is in the registry.
"""
