#include "loup/kernels/sort.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>
#include <vector>

#include "loup/base/parallel.h"
#include "loup/kernels/radix.h"
#include "loup/kernels/sort_columns.h"
#include "loup/kernels/sort_keys.h"

namespace loup::kernels {

namespace {

/// Keys that sort the other way round.
template <class T>
constexpr std::uint64_t flip_of(bool descending) {
  if (!descending) return 0;
  return std::numeric_limits<std::uint64_t>::max() >> (64 - key_bits<T>);
}

/// Calls `f` with the types of the elements and of the items that sort them.
template <class F>
auto visit_sorting(const Sorting& sorting, F&& f) {
  return visit_dtype(sorting.dtype, [&]<class T>(std::type_identity<T> type) {
    // Positions of 32 bits: only rows of more than 16 GB need others.
    if (sorting.count > std::int64_t{1} << 32U) return f(type, std::type_identity<Wide>());
    return f(type, std::type_identity<Packed>());
  });
}

/// The bits in which the keys of elements differ.
template <class T>
std::uint64_t varying_bits(const T* from, const Parts& parts) {
  std::vector<std::uint64_t> found(static_cast<std::size_t>(parts.parts));
  const SortKey<T> first = key_of(from[0]);
  parallel_for(parts.parts, [&](std::int64_t part) {
    SortKey<T> bits = 0;
    for (std::int64_t i = parts.begin(part); i < parts.begin(part + 1); ++i) {
      bits |= key_of(from[i]) ^ first;
    }
    found[static_cast<std::size_t>(part)] = bits;
  });
  std::uint64_t all = 0;
  for (const std::uint64_t bits : found) all |= bits;
  return all;
}

/// Rows of one element type, whose items hold the part of the keys that fits.
template <class T, class Item>
class RowSorter {
 public:
  RowSorter(const T* from, std::int64_t count, bool descending, std::int64_t parts)
      : from_(from),
        parts_{count, parts},
        flip_(flip_of<T>(descending)),
        varying_(varying_bits(from, parts_)) {
    if constexpr (std::is_same_v<Item, Packed> && key_bits<T> > 32) {
      // The highest 32 bits in which keys differ; where they are equal the others decide.
      shift_ = static_cast<unsigned>(std::max(static_cast<int>(std::bit_width(varying_)) - 32, 0));
    }
  }

  /// The sorted items, in one half of `scratch`.
  const Item* run(Item* scratch) const {
    for_each_part([=, own = *this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        scratch[i] =
            Item::of(own.key_at(i) >> own.shift_ & kept_bits, static_cast<std::uint64_t>(i));
      }
    });
    Item* const sorted = radix_sort(scratch, scratch + parts_.count, parts_.count,
                                    varying_ >> shift_ & kept_bits, parts_.parts);
    if (shift_ > 0) sort_runs(sorted);
    return sorted;
  }

  void write(const Item* sorted, T* values, std::int64_t* positions) const {
    // By value: the elements written might be anything, also what a reference refers to.
    for_each_part([=, own = *this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) positions[i] = sorted[i].position();
      if (values == nullptr) return;
      for (std::int64_t i = begin; i < end; ++i) values[i] = own.value_at(sorted[i]);
    });
  }

 private:
  static constexpr std::uint64_t kept_bits = std::is_same_v<Item, Packed>
                                                 ? std::numeric_limits<std::uint32_t>::max()
                                                 : std::numeric_limits<std::uint64_t>::max();

  template <class Run>
  void for_each_part(Run&& run) const {
    parallel_for(parts_.parts,
                 [&](std::int64_t part) { run(parts_.begin(part), parts_.begin(part + 1)); });
  }

  std::uint64_t key_at(std::int64_t i) const { return key_of(from_[i]) ^ flip_; }

  T value_at(const Item& item) const {
    if constexpr (key_bits<T> > 32) {
      return from_[item.position()];
    } else {
      const auto key = static_cast<SortKey<T>>(item.key() ^ flip_);
      return is_shared_key<T>(key) ? from_[item.position()] : value_of<T>(key);
    }
  }

  /// Sorts what has equal keys by the bits that did not fit. A run belongs to the part in which it
  /// begins.
  void sort_runs(Item* items) const {
    std::vector<std::int64_t> edges;
    for (std::int64_t part = 0; part <= parts_.parts; ++part) {
      std::int64_t at = parts_.begin(part);
      while (at > 0 && at < parts_.count && items[at].key() == items[at - 1].key()) ++at;
      edges.push_back(at);
    }
    parallel_for(parts_.parts, [&](std::int64_t part) {
      const std::int64_t end = edges[static_cast<std::size_t>(part) + 1];
      for (std::int64_t at = edges[static_cast<std::size_t>(part)]; at < end;) {
        std::int64_t next = at + 1;
        while (next < end && items[next].key() == items[at].key()) ++next;
        if (next - at > 1) sort_run(items + at, next - at);
        at = next;
      }
    });
  }

  void sort_run(Item* items, std::int64_t count) const {
    std::vector<Wide> wide(static_cast<std::size_t>(2 * count));
    std::uint64_t varying = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t position = items[i].position();
      wide[static_cast<std::size_t>(i)] = {key_at(position), position};
      varying |= wide[static_cast<std::size_t>(i)].word ^ wide[0].word;
    }
    const Wide* const sorted = radix_sort(wide.data(), wide.data() + count, count, varying);
    const std::uint64_t key = items[0].key();
    for (std::int64_t i = 0; i < count; ++i) {
      items[i] = Item::of(key, static_cast<std::uint64_t>(sorted[i].position()));
    }
  }

  const T* from_;
  Parts parts_;
  std::uint64_t flip_;
  std::uint64_t varying_;
  unsigned shift_ = 0;
};

/// Short rows of up to 32 bits are sorted side by side, as columns of words.
constexpr std::int64_t most_column_rows = 512;

template <class T>
void sort_as_columns(const Sorting& sorting, std::int64_t rows, const T* from, T* values,
                     std::int64_t* positions, std::uint64_t* words) {
  const std::int64_t count = sorting.count;
  const std::int64_t columns = sorted_columns();
  const std::uint64_t flip = flip_of<T>(sorting.descending);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t key = key_of(from[row * count + i]) ^ flip;
      words[i * columns + row] = Packed::of(key, static_cast<std::uint64_t>(i)).word;
    }
  }
  sort_columns(words, count);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < count; ++i) {
      const Packed item{words[i * columns + row]};
      const auto key = static_cast<SortKey<T>>(item.key() ^ flip);
      positions[row * count + i] = item.position();
      if (values == nullptr) continue;
      values[row * count + i] =
          is_shared_key<T>(key) ? from[row * count + item.position()] : value_of<T>(key);
    }
  }
}

/// The first few of the items that it is offered, by their order. Every time there are too many the
/// others leave, and the last one that stays is the mark which later ones must beat.
class Best {
 public:
  explicit Best(std::int64_t kept) : kept_(kept) {}

  void offer(std::uint64_t key, std::int64_t position) {
    // An equal one stands further back, so it comes later.
    if (key >= mark_ && has_mark_) return;
    items_.push_back({key, position});
    if (std::ssize(items_) == 2 * kept_ + 64) shrink();
  }
  void take_over(const Best& other) {
    items_.insert(items_.end(), other.items_.begin(), other.items_.end());
  }
  const std::vector<Wide>& sorted() {
    if (std::ssize(items_) > kept_) shrink();
    std::sort(items_.begin(), items_.end());
    return items_;
  }

 private:
  void shrink() {
    std::nth_element(items_.begin(), items_.begin() + kept_ - 1, items_.end());
    items_.resize(static_cast<std::size_t>(kept_));
    mark_ = items_.back().key();
    has_mark_ = true;
  }

  std::int64_t kept_;
  std::vector<Wide> items_;
  std::uint64_t mark_ = std::numeric_limits<std::uint64_t>::max();
  bool has_mark_ = false;
};

}  // namespace

std::int64_t sort_scratch_bytes(const Sorting& sorting) {
  return visit_sorting(
      sorting, [&]<class T, class Item>(std::type_identity<T>, std::type_identity<Item>) {
        const auto items = 2 * sorting.count * static_cast<std::int64_t>(sizeof(Item));
        const bool fits = sorting.count <= most_column_rows;
        return std::max(items, fits ? 8 * most_sorted_columns * sorting.count : 0);
      });
}

void sort_row(const Sorting& sorting, const std::byte* from, std::byte* values,
              std::int64_t* positions, std::byte* scratch, std::int64_t parts) {
  visit_sorting(sorting, [&]<class T, class Item>(std::type_identity<T>, std::type_identity<Item>) {
    const RowSorter<T, Item> sorter(reinterpret_cast<const T*>(from), sorting.count,
                                    sorting.descending, parts);
    const Item* const sorted = sorter.run(reinterpret_cast<Item*>(scratch));
    sorter.write(sorted, reinterpret_cast<T*>(values), positions);
  });
}

void sort_rows(const Sorting& sorting, std::int64_t rows, const std::byte* from, std::byte* values,
               std::int64_t* positions, std::byte* scratch) {
  visit_dtype(sorting.dtype, [&]<class T>(std::type_identity<T>) {
    const std::int64_t count = sorting.count;
    const auto bytes = static_cast<std::int64_t>(sizeof(T));
    const auto value_row = [&](std::int64_t row) {
      return values != nullptr ? values + row * count * bytes : nullptr;
    };
    std::int64_t row = 0;
    if constexpr (sizeof(T) <= 4) {
      const std::int64_t columns = sorted_columns();
      // Columns that stay empty are sorted, too: a long row alone is better off without them.
      while (count <= most_column_rows && row < rows && (rows - row >= columns || count <= 64)) {
        const std::int64_t together = std::min(columns, rows - row);
        sort_as_columns(sorting, together, reinterpret_cast<const T*>(from) + row * count,
                        reinterpret_cast<T*>(value_row(row)), positions + row * count,
                        reinterpret_cast<std::uint64_t*>(scratch));
        row += together;
      }
    }
    for (; row < rows; ++row) {
      sort_row(sorting, from + row * count * bytes, value_row(row), positions + row * count,
               scratch);
    }
  });
}

void select_row(const Sorting& sorting, std::int64_t kept, const std::byte* from, std::byte* values,
                std::int64_t* positions, std::int64_t parts) {
  visit_dtype(sorting.dtype, [&]<class T>(std::type_identity<T>) {
    const std::uint64_t flip = flip_of<T>(sorting.descending);
    const T* const elements = reinterpret_cast<const T*>(from);
    const Parts ranges{sorting.count, parts};
    std::vector<Best> best(static_cast<std::size_t>(parts), Best(kept));
    parallel_for(parts, [&](std::int64_t part) {
      Best& own = best[static_cast<std::size_t>(part)];
      for (std::int64_t i = ranges.begin(part); i < ranges.begin(part + 1); ++i) {
        own.offer(key_of(elements[i]) ^ flip, i);
      }
    });
    for (std::size_t part = 1; part < best.size(); ++part) best[0].take_over(best[part]);
    std::int64_t next = 0;
    for (const Wide& item : best[0].sorted()) {
      if (values != nullptr) reinterpret_cast<T*>(values)[next] = elements[item.position()];
      positions[next++] = item.position();
    }
  });
}

}  // namespace loup::kernels
