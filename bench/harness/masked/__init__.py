"""Masked reductions: beside torch.masked, NumPy and whatever else knows missing values."""
