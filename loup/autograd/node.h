#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "loup/autograd/gradient.h"
#include "loup/tensor/tensor.h"

namespace loup::autograd {

class Node;
/// What a run of backward is interested in.
using NodeSet = std::unordered_set<const Node*>;

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
  /// `needed`: the nodes whose gradients are wanted; null: all of them.
  Saved(const std::shared_ptr<Node>& node, const NodeSet* needed) : node_(node), needed_(needed) {}
  /// The i-th saved tensor; StateError when its elements were changed since.
  const Tensor& operator[](std::size_t i) const;
  /// Whether the gradient of input i is wanted. A rule may return Gradient{} for one that is not.
  bool needs(std::size_t i) const;
  /// The output of the call, which must have been recorded with Output::saved. While recording it
  /// carries its record, so gradients of gradients flow through it. StateError as for operator[].
  Tensor output() const;

 private:
  const std::shared_ptr<Node>& node_;
  const NodeSet* needed_;
};

/// From the gradient of a call's output to those of its inputs, in their order. Rules are written
/// with operators, so recording them again gives gradients of gradients. Where nothing flows a rule
/// returns zero_gradient().
using Rule = std::function<std::vector<Gradient>(const Saved&, const Gradient&)>;

/// Whether a rule will ask for Saved::output(). A tensor must not save its own output otherwise: it
/// would keep itself alive.
enum class Output : std::uint8_t { unneeded, saved };

/// The nodes of a call's inputs: null for one that is not recorded. Up to two lie inline.
class LOUP_EXPORT NodeList {
 public:
  NodeList() = default;
  explicit NodeList(std::size_t size) : size_(size) {
    if (size > few_.size()) many_ = std::make_unique<std::shared_ptr<Node>[]>(size);
  }
  NodeList(NodeList&& other) noexcept = default;
  NodeList& operator=(NodeList&& other) noexcept = default;
  ~NodeList() = default;
  std::shared_ptr<Node>* data() { return many_ ? many_.get() : few_.data(); }
  const std::shared_ptr<Node>* data() const { return many_ ? many_.get() : few_.data(); }
  std::size_t size() const { return size_; }

 private:
  std::array<std::shared_ptr<Node>, 2> few_;
  std::unique_ptr<std::shared_ptr<Node>[]> many_;
  std::size_t size_ = 0;
};

struct Attached;

/// One recorded call, or a leaf that collects its gradient. Numbered as made: inputs have smaller
/// numbers than what is computed from them.
class LOUP_EXPORT Node {
 public:
  enum class Kind : std::uint8_t {
    call,
    view,  // the output shows the elements of the first input
    leaf,
  };
  Node(Kind kind, const char* operation, NodeList inputs, std::vector<SavedTensor> saved,
       Rule rule);
  /// A leaf.
  Node();
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const char* operation() const { return operation_; }
  std::uint64_t number() const { return number_; }
  bool is_leaf() const { return kind_ == Kind::leaf; }
  bool is_view() const { return kind_ == Kind::view; }
  std::span<const std::shared_ptr<Node>> inputs() const {
    return {contents_.inputs.data(), contents_.inputs.size()};
  }

  /// The gradients of the inputs of `node`; StateError when the record was released.
  static std::vector<Gradient> apply(const std::shared_ptr<Node>& node, const Gradient& gradient,
                                     const NodeSet* needed);
  /// Forgets rule and saved tensors.
  void release();

  /// Gradient and hooks (autograd/attached.h): null unless there was a reason to have them.
  Attached* attached() const { return contents_.attached.get(); }
  /// The same, made if need be.
  Attached& attach();

 private:
  friend class Saved;
  /// What a node holds: given up as a whole, so that chains of nodes are freed without recursion.
  struct Contents {
    NodeList inputs;
    std::vector<SavedTensor> saved;  // the output last, where it is saved
    Rule rule;
    std::unique_ptr<Attached> attached;
  };

  const char* operation_;
  std::uint64_t number_;
  Kind kind_;
  Contents contents_;
};

/// Whether this thread records calls. On by default.
LOUP_EXPORT bool is_recording();
/// Switches recording on or off for this thread, until it is switched again; returns what it was.
LOUP_EXPORT bool switch_recording(bool records);

/// Switches recording on or off while alive, for this thread.
class LOUP_EXPORT RecordingScope {
 public:
  explicit RecordingScope(bool records) : previous_(switch_recording(records)) {}
  ~RecordingScope() { switch_recording(previous_); }
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
  Inputs(std::initializer_list<Item> items) : items_(items), size_(items.size()) {}
  Inputs(const std::vector<Tensor>& tensors) : tensors_(tensors.data()), size_(tensors.size()) {}
  std::size_t size() const { return size_; }
  const Tensor& operator[](std::size_t i) const {
    return tensors_ != nullptr ? tensors_[i] : *items_.begin()[i].tensor;
  }

 private:
  std::initializer_list<Item> items_;
  const Tensor* tensors_ = nullptr;
  std::size_t size_;
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

/// Gives `x`, whose elements were replaced, the record `node`; it goes on retaining its gradient if
/// it did.
LOUP_EXPORT void replace_node(Tensor& x, std::shared_ptr<Node> node);

/// StateError when the record of `x` tells of other elements than it has now: they were changed in
/// place through another tensor that shares them. Leaves are whatever they are.
LOUP_EXPORT void check_record(const char* operation, const Tensor& x);

/// Makes `x` a leaf that collects gradients, or cuts it off the record. DTypeError unless its dtype
/// is floating.
LOUP_EXPORT void set_requires_grad(Tensor& x, bool requires_grad);

/// The gradient that `x` has collected: a leaf, or a tensor that was told to retain_grad(). Nothing
/// when there is none.
LOUP_EXPORT std::optional<Tensor> grad(const Tensor& x);
/// Replaces or clears it; the tensor is shared, not copied. StateError when x does not require
/// grad, ShapeError or DTypeError when the gradient does not fit x.
LOUP_EXPORT void set_grad(const Tensor& x, std::optional<Tensor> gradient);

}  // namespace loup::autograd
