"""One file for each tool: its Convention, or those of its generations."""
