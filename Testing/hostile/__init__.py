"""Inputs that are bad or odd, and what becomes of each: tables that test_hostile.py runs row by row."""
