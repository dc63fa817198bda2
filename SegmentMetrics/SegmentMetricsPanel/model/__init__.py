"""What the panel knows and decides, without Qt and MRML."""
