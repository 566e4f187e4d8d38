"""Every operator that is a plain function: at least one call of each."""

from op_cases.example import Example
from op_cases.gathering import GATHERING
from op_cases.masked import MASKED
from op_cases.nn import NN
from op_cases.order import ORDER
from op_cases.products import PRODUCTS
from op_cases.random import RANDOM
from op_cases.reductions import REDUCTIONS
from op_cases.selection import SELECTION
from op_cases.shapes import SHAPES
from op_cases.views import VIEWS
from op_cases.windows import WINDOWS

FUNCTIONS: dict[str, list[Example]] = (
    GATHERING
    | MASKED
    | NN
    | ORDER
    | PRODUCTS
    | RANDOM
    | REDUCTIONS
    | SELECTION
    | SHAPES
    | VIEWS
    | WINDOWS
)
