#include "index.h"

#include <fmt/format.h>

#include "bindings.h"
#include "loup/base/error.h"
#include "loup/ops/views.h"

namespace loup::python {

namespace {

bool is_ellipsis(nb::handle item) { return item.ptr() == Py_Ellipsis; }

/// An end beyond the range of int64 means as far as there are elements.
std::optional<std::int64_t> slice_end(nb::handle end) {
  if (end.is_none()) return std::nullopt;
  if (PyLong_Check(end.ptr()) == 0) return integer_from("slice", end);
  return PyNumber_AsSsize_t(end.ptr(), nullptr);
}

/// Applies the items of an index one by one; `dim` is where the next one acts.
class Indexer {
 public:
  explicit Indexer(const Tensor& x) : result_(x) {}

  void apply(nb::handle item) {
    if (item.is_none()) {
      new_dims_.push_back(dim_ + new_dims_.size());
    } else if (PySlice_Check(item.ptr())) {
      require_dim();
      const nb::object step = item.attr("step");
      result_ =
          ops::slice(result_, dim_++, slice_end(item.attr("start")), slice_end(item.attr("stop")),
                     step.is_none() ? 1 : integer_from("slice", step));
    } else if (PyIndex_Check(item.ptr()) != 0 && !PyBool_Check(item.ptr())) {
      require_dim();
      result_ = ops::select(result_, dim_, integer_from("index", item));
    } else {
      throw_type_error("index: expected None, Ellipsis, ints and slices, got {}", class_name(item));
    }
  }
  void skip(int dims) { dim_ += dims; }
  /// New dims come last: with those that ints remove there might be too many on the way.
  Tensor result() const {
    Tensor result = result_;
    for (const std::int64_t dim : new_dims_) result = ops::unsqueeze(result, dim);
    return result;
  }

 private:
  void require_dim() const {
    if (dim_ >= result_.ndim()) {
      throw IndexError("index: expected at most {} indices, got more", result_.ndim());
    }
  }

  Tensor result_;
  int dim_ = 0;
  Dims new_dims_;
};

}  // namespace

Tensor index(const Tensor& x, nb::handle key) {
  Indexer indexer(x);
  if (!PyTuple_Check(key.ptr())) {
    if (!is_ellipsis(key)) indexer.apply(key);
    return indexer.result();
  }
  int consumed = 0;
  int ellipses = 0;
  for (nb::handle item : nb::borrow<nb::tuple>(key)) {
    ellipses += is_ellipsis(item) ? 1 : 0;
    consumed += is_ellipsis(item) || item.is_none() ? 0 : 1;
  }
  if (ellipses > 1) throw IndexError("index: expected at most one Ellipsis, got {}", ellipses);
  if (consumed > x.ndim()) {
    throw IndexError("index: expected at most {} indices, got {}", x.ndim(), consumed);
  }
  for (nb::handle item : nb::borrow<nb::tuple>(key)) {
    if (is_ellipsis(item)) {
      indexer.skip(x.ndim() - consumed);
    } else {
      indexer.apply(item);
    }
  }
  return indexer.result();
}

}  // namespace loup::python
