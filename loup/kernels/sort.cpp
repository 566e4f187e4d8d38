#include "loup/kernels/sort.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "loup/base/parallel.h"
#include "loup/kernels/radix.h"
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
    if constexpr (sizeof(T) == 8) {
      return f(type, std::type_identity<Wide>());
    } else {
      if (sorting.count > std::int64_t{1} << 32U) return f(type, std::type_identity<Wide>());
      return f(type, std::type_identity<Packed>());
    }
  });
}

/// Turns elements into items, and finds the bits in which their keys differ.
template <class T, class Item>
std::uint64_t encode(const T* from, Item* items, std::int64_t begin, std::int64_t end,
                     std::uint64_t flip) {
  std::uint64_t varying = 0;
  const std::uint64_t first = key_of(from[0]);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::uint64_t key = key_of(from[i]);
    varying |= key ^ first;
    items[i] = Item::of(key ^ flip, static_cast<std::uint64_t>(i));
  }
  return varying;
}

/// Turns sorted items into elements and positions, which may lie where the items do.
template <class T, class Item>
void decode(const T* from, const Item* items, std::int64_t begin, std::int64_t end,
            std::uint64_t flip, T* values, std::int64_t* positions) {
  for (std::int64_t i = begin; i < end; ++i) {
    const Item item = items[i];
    const auto key = static_cast<SortKey<T>>(item.key() ^ flip);
    positions[i] = item.position();
    if (values != nullptr) {
      values[i] = is_shared_key<T>(key) ? from[item.position()] : value_of<T>(key);
    }
  }
}

/// The first few of the items that it is offered, by their order. Every time there are too many the
/// others leave, and the last one that stays is the mark which later ones must beat.
template <class Item>
class Best {
 public:
  explicit Best(std::int64_t kept) : kept_(kept) {}

  void offer(std::uint64_t key, std::int64_t position) {
    // An equal one stands further back, so it comes later.
    if (key >= mark_ && has_mark_) return;
    items_.push_back(Item::of(key, static_cast<std::uint64_t>(position)));
    if (std::ssize(items_) == 2 * kept_ + 64) shrink();
  }
  void take_over(const Best& other) {
    items_.insert(items_.end(), other.items_.begin(), other.items_.end());
  }
  std::vector<Item> sorted() {
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
  std::vector<Item> items_;
  std::uint64_t mark_ = std::numeric_limits<std::uint64_t>::max();
  bool has_mark_ = false;
};

}  // namespace

std::int64_t sort_scratch_bytes(const Sorting& sorting) {
  return visit_sorting(sorting,
                       [&]<class T, class Item>(std::type_identity<T>, std::type_identity<Item>) {
                         return 2 * sorting.count * static_cast<std::int64_t>(sizeof(Item));
                       });
}

void sort_row(const Sorting& sorting, const std::byte* from, std::byte* values,
              std::int64_t* positions, std::byte* scratch, std::int64_t parts) {
  visit_sorting(sorting, [&]<class T, class Item>(std::type_identity<T>, std::type_identity<Item>) {
    const std::int64_t count = sorting.count;
    const std::uint64_t flip = flip_of<T>(sorting.descending);
    const T* const elements = reinterpret_cast<const T*>(from);
    Item* const items = reinterpret_cast<Item*>(scratch);
    const Parts ranges{count, parts};
    std::vector<std::uint64_t> varying(static_cast<std::size_t>(parts));
    parallel_for(parts, [&](std::int64_t part) {
      varying[static_cast<std::size_t>(part)] =
          encode(elements, items, ranges.begin(part), ranges.begin(part + 1), flip);
    });
    std::uint64_t all = 0;
    for (const std::uint64_t bits : varying) all |= bits;
    const Item* const sorted = radix_sort(items, items + count, count, all, parts);
    parallel_for(parts, [&](std::int64_t part) {
      decode(elements, sorted, ranges.begin(part), ranges.begin(part + 1), flip,
             reinterpret_cast<T*>(values), positions);
    });
  });
}

void select_row(const Sorting& sorting, std::int64_t kept, const std::byte* from, std::byte* values,
                std::int64_t* positions, std::int64_t parts) {
  visit_sorting(sorting, [&]<class T, class Item>(std::type_identity<T>, std::type_identity<Item>) {
    const std::uint64_t flip = flip_of<T>(sorting.descending);
    const T* const elements = reinterpret_cast<const T*>(from);
    const Parts ranges{sorting.count, parts};
    std::vector<Best<Item>> best(static_cast<std::size_t>(parts), Best<Item>(kept));
    parallel_for(parts, [&](std::int64_t part) {
      Best<Item>& own = best[static_cast<std::size_t>(part)];
      for (std::int64_t i = ranges.begin(part); i < ranges.begin(part + 1); ++i) {
        own.offer(key_of(elements[i]) ^ flip, i);
      }
    });
    for (std::size_t part = 1; part < best.size(); ++part) best[0].take_over(best[part]);
    const std::vector<Item> first = best[0].sorted();
    decode(elements, first.data(), 0, kept, flip, reinterpret_cast<T*>(values), positions);
  });
}

}  // namespace loup::kernels
