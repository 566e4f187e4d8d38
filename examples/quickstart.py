"""A padded batch of two sentences: sums that ignore the padding, forwards and backwards."""

import loup

pad = float("nan")  # nobody will look at it
x = loup.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, pad]], requires_grad=True)
mask = loup.tensor([[True, True, True], [True, True, False]])

print("data and mask:", loup.masked_tensor(x.detach(), mask), sep="\n", end="\n\n")

rows = loup.masked.sum(x, dim=1, mask=mask)
print("sum of each row:", rows, sep="\n", end="\n\n")

total = rows.sum()
total.backward()
print("total:", total.item(), end="\n\n")
print("gradient, exactly 0 at the padding:", x.grad, sep="\n")
