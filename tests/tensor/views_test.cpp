#include "loup/tensor/views.h"

#include <algorithm>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/random.h"
#include "tests/support/tensors.h"

namespace loup {
namespace {

using test::Random;

/// What a layout shows, written out: the position of every element, row-major.
struct Shown {
  Shape shape;
  std::vector<std::int64_t> positions;

  friend bool operator==(const Shown&, const Shown&) = default;
};

Shown shown_by(const Layout& layout) {
  Shown result{layout.shape, {}};
  test::for_each_index(layout.shape, [&](const Dims& index) {
    result.positions.push_back(layout.position("test", index));
  });
  return result;
}

std::int64_t flat_index(const Shape& shape, const Dims& index) {
  std::int64_t flat = 0;
  for (int i = 0; i < shape.size(); ++i) flat = flat * shape[i] + index[i];
  return flat;
}

/// A view made element by element: `from(index)` is the old index of a new one.
template <class From>
Shown remapped(const Shown& x, const Shape& shape, From&& from) {
  Shown result{shape, {}};
  test::for_each_index(shape, [&](const Dims& index) {
    result.positions.push_back(
        x.positions[static_cast<std::size_t>(flat_index(x.shape, from(index)))]);
  });
  return result;
}

/// A layout, and the same views applied to it element by element.
struct Pair {
  Layout layout;
  Shown naive;
  std::string story;
};

void do_permute(Random& random, Pair& p) {
  const int ndim = p.layout.shape.size();
  Dims order;
  for (int i = 0; i < ndim; ++i) order.insert(static_cast<int>(random.integer(0, i)), i);
  Shape shape = p.layout.shape;
  for (int i = 0; i < ndim; ++i) shape[i] = p.layout.shape[static_cast<int>(order[i])];
  p.naive = remapped(p.naive, shape, [&](const Dims& index) {
    Dims old = index;
    for (int i = 0; i < ndim; ++i) old[static_cast<int>(order[i])] = index[i];
    return old;
  });
  Dims spelled = order;
  for (std::int64_t& dim : spelled) {
    if (random.chance(0.3)) dim -= ndim;
  }
  p.story += fmt::format(" permute{}", spelled);
  p.layout = permute(p.layout, spelled);
}

void do_transpose(Random& random, Pair& p) {
  const int ndim = p.layout.shape.size();
  if (ndim == 0) return;
  const auto a = static_cast<int>(random.integer(0, ndim - 1));
  const auto b = static_cast<int>(random.integer(0, ndim - 1));
  Shape shape = p.layout.shape;
  std::swap(shape[a], shape[b]);
  p.naive = remapped(p.naive, shape, [&](Dims index) {
    std::swap(index[a], index[b]);
    return index;
  });
  p.story += fmt::format(" transpose({}, {})", a, b);
  p.layout = transpose(p.layout, a - ndim, b);
}

void do_squeeze(Random& /*random*/, Pair& p) {
  Shape shape;
  for (const std::int64_t size : p.layout.shape) {
    if (size != 1) shape.push_back(size);
  }
  p.naive.shape = shape;
  p.story += " squeeze";
  p.layout = squeeze(p.layout);
}

void do_unsqueeze(Random& random, Pair& p) {
  const int ndim = p.layout.shape.size();
  if (ndim == max_ndim) return;
  const auto dim = static_cast<int>(random.integer(0, ndim));
  p.naive.shape.insert(dim, 1);
  p.story += fmt::format(" unsqueeze({})", dim);
  p.layout = unsqueeze(p.layout, random.chance(0.5) ? dim : dim - ndim - 1);
}

void do_expand(Random& random, Pair& p) {
  Shape shape = p.layout.shape;
  for (std::int64_t& size : shape) {
    if (size == 1 && random.chance(0.5)) size = random.integer(0, 3);
  }
  const bool adds = shape.size() < max_ndim && random.chance(0.5);
  if (adds) shape.insert(0, 2);
  p.naive = remapped(p.naive, shape, [&, old = p.naive.shape](Dims index) {
    if (adds) index.erase(0);
    for (int i = 0; i < index.size(); ++i) index[i] = old[i] == 1 ? 0 : index[i];
    return index;
  });
  Shape spelled = shape;
  for (int i = adds ? 1 : 0; i < shape.size(); ++i) {
    if (shape[i] == p.layout.shape[i - (adds ? 1 : 0)] && random.chance(0.5)) spelled[i] = -1;
  }
  p.story += fmt::format(" expand{}", spelled);
  p.layout = expand(p.layout, spelled);
}

void do_slice(Random& random, Pair& p) {
  const int ndim = p.layout.shape.size();
  if (ndim == 0) return;
  const auto dim = static_cast<int>(random.integer(0, ndim - 1));
  const std::int64_t size = p.layout.shape[dim];
  const std::int64_t start = random.integer(-size - 2, size + 2);
  const std::int64_t stop = random.integer(-size - 2, size + 2);
  const std::int64_t step = random.integer(1, 4);
  // As Python counts: negative ends from the back, then clipped.
  std::vector<std::int64_t> taken;
  const std::int64_t first = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, size);
  const std::int64_t last = std::clamp<std::int64_t>(stop < 0 ? stop + size : stop, 0, size);
  for (std::int64_t i = first; i < last; i += step) taken.push_back(i);
  Shape shape = p.layout.shape;
  shape[dim] = std::ssize(taken);
  p.naive = remapped(p.naive, shape, [&](Dims index) {
    index[dim] = taken[static_cast<std::size_t>(index[dim])];
    return index;
  });
  p.story += fmt::format(" slice({}, {}, {}, {})", dim, start, stop, step);
  p.layout = slice(p.layout, dim, start, stop, step);
}

void do_narrow(Random& random, Pair& p) {
  const int ndim = p.layout.shape.size();
  if (ndim == 0) return;
  const auto dim = static_cast<int>(random.integer(0, ndim - 1));
  const std::int64_t start = random.integer(0, p.layout.shape[dim]);
  const std::int64_t length = random.integer(0, p.layout.shape[dim] - start);
  Shape shape = p.layout.shape;
  shape[dim] = length;
  p.naive = remapped(p.naive, shape, [&](Dims index) {
    index[dim] += start;
    return index;
  });
  p.story += fmt::format(" narrow({}, {}, {})", dim, start, length);
  p.layout = narrow(p.layout, dim, start, length);
}

void do_select(Random& random, Pair& p) {
  const int ndim = p.layout.shape.size();
  if (ndim == 0) return;
  const auto dim = static_cast<int>(random.integer(0, ndim - 1));
  const std::int64_t size = p.layout.shape[dim];
  if (size == 0) return;
  const std::int64_t at = random.integer(0, size - 1);
  Shape shape = p.layout.shape;
  shape.erase(dim);
  p.naive = remapped(p.naive, shape, [&](Dims index) {
    index.insert(dim, at);
    return index;
  });
  p.story += fmt::format(" select({}, {})", dim, at);
  p.layout = select(p.layout, dim, random.chance(0.5) ? at : at - size);
}

/// True when some strides show the positions of `x` in this shape.
bool has_strides(const Shown& x) {
  if (x.positions.empty()) return true;
  Strides strides = Dims::filled(x.shape.size(), 0);
  Dims index = Dims::filled(x.shape.size(), 0);
  const auto position = [&](const Dims& i) {
    return x.positions[static_cast<std::size_t>(flat_index(x.shape, i))];
  };
  for (int d = 0; d < x.shape.size(); ++d) {
    if (x.shape[d] < 2) continue;
    index[d] = 1;
    strides[d] = position(index) - x.positions[0];
    index[d] = 0;
  }
  return shown_by({x.shape, strides, x.positions[0]}) == x;
}

/// A view is made whenever strides for it exist, and shows the same elements in the same order.
void do_view(Random& random, Pair& p) {
  std::int64_t rest = element_count(p.layout.shape);
  Shape shape;
  while (rest > 1 && shape.size() < 6) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 1; d <= rest; ++d) {
      if (rest % d == 0) divisors.push_back(d);
    }
    shape.push_back(random.pick(divisors));
    rest /= shape.back();
  }
  shape.push_back(rest);
  const Shown wanted{shape, p.naive.positions};
  p.story += fmt::format(" view{}", shape);
  const std::optional<Layout> got = view(p.layout, shape);
  ASSERT_EQ(got.has_value(), has_strides(wanted)) << p.story;
  if (!got) return;
  p.layout = *got;
  p.naive = wanted;
}

TEST(LayoutViews, InAnyOrderShowWhatTheyShowElementByElement) {
  const std::vector<void (*)(Random&, Pair&)> views = {do_permute,   do_transpose, do_squeeze,
                                                       do_unsqueeze, do_expand,    do_slice,
                                                       do_narrow,    do_select,    do_view};
  Random random;
  for (int chain = 0; chain < 3000; ++chain) {
    Shape shape;
    const std::int64_t ndim = random.integer(0, max_ndim);
    for (std::int64_t i = 0; i < ndim; ++i) shape.push_back(random.integer(1, ndim > 4 ? 2 : 5));
    Pair p{Layout::contiguous(shape), {}, fmt::format("{}", shape)};
    p.layout.offset = random.integer(0, 3);
    p.naive = shown_by(p.layout);
    for (int i = 0; i < 5; ++i) {
      random.pick(views)(random, p);
      ASSERT_EQ(shown_by(p.layout), p.naive) << p.story;
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace loup
