"""The tensor's own operators: beside NumPy and torch."""
