FUNCTIONS: dict[str, object] = {}
