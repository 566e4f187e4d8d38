"""Shared and mapped memory beside PyTorch's."""
