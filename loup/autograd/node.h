#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "loup/autograd/gradient.h"
#include "loup/tensor/tensor.h"

namespace loup::autograd {

/// A tensor that a rule will need, and the state it was in.
class LOUP_EXPORT SavedTensor {
 public:
  explicit SavedTensor(Tensor tensor)
      : tensor_(std::move(tensor)), version_(tensor_.storage().version()) {}
  /// The tensor; StateError when its elements were changed since.
  const Tensor& unpack(const char* operation) const;

 private:
  Tensor tensor_;
  std::uint64_t version_;
};

/// What a recorded call hands to its rule.
class LOUP_EXPORT Saved {
 public:
  Saved(const char* operation, std::vector<SavedTensor> tensors)
      : operation_(operation), tensors_(std::move(tensors)) {}
  const Tensor& operator[](std::size_t i) const { return tensors_[i].unpack(operation_); }

 private:
  const char* operation_;
  std::vector<SavedTensor> tensors_;
};

/// From the gradient of a call's output to those of its inputs, in their order. Rules are written
/// with operators, so recording them again gives gradients of gradients.
using Rule = std::function<std::vector<Gradient>(const Saved&, const Gradient&)>;

/// One recorded call, or a leaf that collects its gradient. Numbered as made: inputs have smaller
/// numbers than what is computed from them.
class LOUP_EXPORT Node {
 public:
  Node(const char* operation, std::vector<std::shared_ptr<Node>> inputs, Saved saved, Rule rule);
  /// A leaf.
  Node();
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  std::uint64_t number() const { return number_; }
  bool is_leaf() const { return is_leaf_; }
  const std::vector<std::shared_ptr<Node>>& inputs() const { return inputs_; }

  /// The gradients of the inputs; StateError when the record was released.
  std::vector<Gradient> apply(const Gradient& gradient) const;
  /// Forgets rule and saved tensors.
  void release();

  /// The gradient that a leaf has collected so far.
  std::optional<Tensor> grad;

 private:
  const char* operation_;
  std::uint64_t number_;
  bool is_leaf_;
  std::vector<std::shared_ptr<Node>> inputs_;
  Saved saved_;
  Rule rule_;
};

/// Whether this thread records calls. On by default.
LOUP_EXPORT bool is_recording();

/// Switches recording on or off while alive, for this thread.
class LOUP_EXPORT RecordingScope {
 public:
  explicit RecordingScope(bool records);
  ~RecordingScope();
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;

 private:
  bool previous_;
};

/// True when a call on `x` must be recorded.
inline bool is_recorded(const Tensor& x) { return x.requires_grad() && is_recording(); }

/// Records that `output` was computed from `inputs`. Call it only when one of them is_recorded().
LOUP_EXPORT void record(const char* operation, Tensor& output, std::initializer_list<Tensor> inputs,
                        std::vector<SavedTensor> saved, Rule rule);

/// Makes `x` a leaf that collects gradients, or cuts it off the record. DTypeError unless its dtype
/// is floating.
LOUP_EXPORT void set_requires_grad(Tensor& x, bool requires_grad);

/// The gradient that leaf `x` has collected; nothing when there is none.
LOUP_EXPORT std::optional<Tensor> grad(const Tensor& x);

}  // namespace loup::autograd
