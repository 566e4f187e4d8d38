"""PyTorch's own tables of samples: loup.torch does what torch.masked does, but for named reasons."""

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
import torch_tables
from torch_tables import OPERATORS, all_samples, differences

EMPTY_LINES = "lines without elements are not NaN"
# docs/torch.md gives the reasons. One that no sample shows any more must go.
DIFFERENCES = {
    "argmax": {"an index is int64"},
    "argmin": {"an index is int64"},
    "softmax": {EMPTY_LINES},
    "softmin": {EMPTY_LINES},
    "log_softmax": {EMPTY_LINES, "gradients of masked outputs do not count"},
    "logsumexp": {"integers give float32"},
}


@pytest.mark.parametrize("name", OPERATORS)
def test_samples_of_pytorch_agree_but_for_named_differences(name: str) -> None:
    torch_tables.torch.manual_seed(7)
    count = 0
    found = set()
    for sample in all_samples(name):
        count += 1
        departures = set(differences(sample))
        assert departures <= DIFFERENCES.get(name, set()), sample
        found |= departures
    assert count > 50
    assert found == DIFFERENCES.get(name, set())


def test_there_are_samples_for_every_function() -> None:
    own = {"MaskedTensor", "masked_tensor", "as_masked_tensor", "is_masked_tensor"}
    assert set(OPERATORS) == set(torch_tables.masked.__all__) - own
