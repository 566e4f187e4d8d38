"""The conformance sweep: every masked operator over dtypes, strides, masks and dims."""
