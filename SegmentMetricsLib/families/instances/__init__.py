"""Lesions one by one: found, missed, invented, split and merged ones, and how well each is drawn."""
