"""One file for each tool: its CONVENTION."""
