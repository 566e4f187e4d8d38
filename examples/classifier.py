"""A classifier of padded sequences that learns the same, bit for bit, whatever the padding holds.

    python classifier.py [PAD]

PAD (default 0) is written into every padded place; try nan. classifier.cpp does the same.
"""

import math
import sys

import loup

BATCH, LENGTH, FEATURES, CLASSES, STEPS, RATE = 64, 12, 16, 3, 60, 0.5


def make_batch(pad: float) -> tuple[loup.MaskedTensor, loup.Tensor]:
    """Sequences of different lengths, and which of the first features is largest on average."""
    lengths = loup.randint(1, LENGTH + 1, (BATCH,))
    places = loup.lengths_to_mask(lengths, LENGTH).unsqueeze(-1)
    mask = places.expand(BATCH, LENGTH, FEATURES)
    data = loup.where(mask, loup.randn(BATCH, LENGTH, FEATURES), pad)
    x = loup.as_masked_tensor(data, mask)
    return x, x[:, :, :CLASSES].mean(1).argmax(1).get_data()


def classify(x: loup.MaskedTensor, weights: list[loup.Tensor]) -> loup.MaskedTensor:
    """Attention of every place to every place, the mean over places, a score for each class."""
    query, key, value = (loup.linear(x, weight) for weight in weights[:3])
    scores = query @ key.mT / math.sqrt(FEATURES)
    attended = scores.softmax(-1) @ value
    return loup.linear(attended.mean(1), weights[3])


def main() -> None:
    pad = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
    loup.manual_seed(2026)
    x, classes = make_batch(pad)
    shapes = [(FEATURES, FEATURES)] * 3 + [(CLASSES, FEATURES)]
    weights = [loup.randn(*shape) / math.sqrt(FEATURES) for shape in shapes]
    for step in range(STEPS):
        for weight in weights:
            weight.requires_grad = True
        loss = loup.cross_entropy(classify(x, weights), classes)
        gradients = loup.autograd.grad([loss.get_data()], weights)
        weights = [w.detach() - RATE * g for w, g in zip(weights, gradients, strict=True)]
        if step % 10 == 0 or step == STEPS - 1:
            print(f"step {step:2}  loss {loss.item():.9g}")


if __name__ == "__main__":
    main()
