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

class Node;

/// What a recorded call hands to its rule.
class LOUP_EXPORT Saved {
 public:
  explicit Saved(const Node& node) : node_(node) {}
  /// The i-th saved tensor; StateError when its elements were changed since.
  const Tensor& operator[](std::size_t i) const;
  /// Whether the gradient of input i is wanted. A rule may return Gradient{} for one that is not.
  bool needs(std::size_t i) const;
  /// The output of the call, which must have been recorded with Output::saved. While recording it
  /// carries its record, so gradients of gradients flow through it. StateError as for operator[].
  Tensor output() const;

 private:
  const Node& node_;
};

/// From the gradient of a call's output to those of its inputs, in their order. Rules are written
/// with operators, so recording them again gives gradients of gradients. Where nothing flows a rule
/// returns zero_gradient().
using Rule = std::function<std::vector<Gradient>(const Saved&, const Gradient&)>;

/// Whether a rule will ask for Saved::output(). A tensor must not save its own output otherwise: it
/// would keep itself alive.
enum class Output : std::uint8_t { unneeded, saved };

/// One recorded call, or a leaf that collects its gradient. Numbered as made: inputs have smaller
/// numbers than what is computed from them.
class LOUP_EXPORT Node : public std::enable_shared_from_this<Node> {
 public:
  Node(const char* operation, std::vector<std::shared_ptr<Node>> inputs,
       std::vector<SavedTensor> saved, Rule rule);
  /// A leaf.
  Node();
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  std::uint64_t number() const { return number_; }
  bool is_leaf() const { return is_leaf_; }
  /// Whether the output shows the elements of the first input.
  bool is_view() const { return is_view_; }
  const std::vector<std::shared_ptr<Node>>& inputs() const { return inputs_; }

  /// The gradients of the inputs; StateError when the record was released.
  std::vector<Gradient> apply(const Gradient& gradient) const;
  /// Forgets rule and saved tensors.
  void release();

  /// The gradient that a leaf has collected so far.
  std::optional<Tensor> grad;

 private:
  friend class Saved;
  friend class Recorder;

  const char* operation_;
  std::uint64_t number_;
  bool is_leaf_;
  bool is_view_ = false;
  std::vector<std::shared_ptr<Node>> inputs_;
  std::vector<SavedTensor> saved_;
  std::optional<SavedTensor> output_;
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

/// The inputs of a call: `{a, b}` or a vector of tensors. Refers to them, so it is only for
/// arguments.
class Inputs {
 public:
  struct Item {
    Item(const Tensor& x) : tensor(&x) {}
    const Tensor* tensor;
  };
  Inputs(std::initializer_list<Item> items) : items_(items) {}
  Inputs(const std::vector<Tensor>& tensors) : items_(tensors.begin(), tensors.end()) {}
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  std::size_t size() const { return items_.size(); }

 private:
  std::vector<Item> items_;
};

/// Records that `output` was computed from `inputs`. Call it only when one of them is_recorded().
/// StateError when an input was changed in place through another tensor since it was computed.
LOUP_EXPORT void record(const char* operation, Tensor& output, const Inputs& inputs,
                        std::vector<SavedTensor> saved, Rule rule, Output keeps = Output::unneeded);

/// Records that the elements of `x` were replaced, computed from what they were before (the first
/// input of the rule) and from `others`. Call it after prepare_in_place() of ops/in_place.h and
/// only when x or one of the others is_recorded().
LOUP_EXPORT void record_in_place(const char* operation, Tensor& x, const Inputs& others,
                                 std::vector<SavedTensor> saved, Rule rule,
                                 Output keeps = Output::unneeded);

/// StateError when the record of `x` tells of other elements than it has now: they were changed in
/// place through another tensor that shares them. Leaves are whatever they are.
LOUP_EXPORT void check_record(const char* operation, const Tensor& x);

/// Makes `x` a leaf that collects gradients, or cuts it off the record. DTypeError unless its dtype
/// is floating.
LOUP_EXPORT void set_requires_grad(Tensor& x, bool requires_grad);

/// The gradient that leaf `x` has collected; nothing when there is none.
LOUP_EXPORT std::optional<Tensor> grad(const Tensor& x);

}  // namespace loup::autograd
