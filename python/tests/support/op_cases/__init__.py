"""A case for every operator in loup.ops(): how it is called, and what it must give."""

from op_cases.binary import BINARY
from op_cases.functions import FUNCTIONS
from op_cases.unary import UNARY

FAMILIES = {"unary": UNARY, "binary": BINARY, "functions": FUNCTIONS}


def case_names() -> set[str]:
    """Every operator that has a case."""
    return {name for cases in FAMILIES.values() for name in cases}
