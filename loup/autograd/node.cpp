#include "loup/autograd/node.h"

#include <atomic>
#include <utility>

#include "loup/base/error.h"

namespace loup::autograd {

namespace {

std::atomic<std::uint64_t> next_number{0};
thread_local bool recording = true;

}  // namespace

const Tensor& SavedTensor::unpack(const char* operation) const {
  const std::uint64_t now = tensor_.storage().version();
  if (now != version_) {
    throw StateError(
        "{} backward: expected a tensor of shape {} as it was in the forward call, "
        "got one changed in place since (version {} instead of {})",
        operation, tensor_.shape(), now, version_);
  }
  return tensor_;
}

const Tensor& Saved::operator[](std::size_t i) const {
  return node_.saved_[i].unpack(node_.operation_);
}

bool Saved::needs(std::size_t i) const { return node_.inputs_[i] != nullptr; }

Tensor Saved::output() const {
  Tensor result = node_.output_.value().unpack(node_.operation_);
  if (is_recording()) result.set_node(std::const_pointer_cast<Node>(node_.shared_from_this()));
  return result;
}

Node::Node(const char* operation, std::vector<std::shared_ptr<Node>> inputs,
           std::vector<SavedTensor> saved, Rule rule)
    : operation_(operation),
      number_(next_number.fetch_add(1, std::memory_order_relaxed)),
      is_leaf_(false),
      inputs_(std::move(inputs)),
      saved_(std::move(saved)),
      rule_(std::move(rule)) {}

Node::Node()
    : operation_("leaf"),
      number_(next_number.fetch_add(1, std::memory_order_relaxed)),
      is_leaf_(true) {}

Node::~Node() {
  // One by one: a long chain of calls would overflow the stack by nested destructors.
  release();
  std::vector<std::shared_ptr<Node>> pending = std::move(inputs_);
  while (!pending.empty()) {
    const std::shared_ptr<Node> node = std::move(pending.back());
    pending.pop_back();
    if (node != nullptr && node.use_count() == 1) {
      node->release();
      for (auto& input : node->inputs_) pending.push_back(std::move(input));
      node->inputs_.clear();
    }
  }
}

std::vector<Gradient> Node::apply(const Gradient& gradient) const {
  if (rule_ == nullptr) {
    throw StateError(
        "backward: expected a record that is still there, got one released by an "
        "earlier backward through {}; pass retain_graph the first time",
        operation_);
  }
  return rule_(Saved(*this), gradient);
}

void Node::release() {
  saved_.clear();
  output_.reset();
  rule_ = nullptr;
}

bool is_recording() { return recording; }

RecordingScope::RecordingScope(bool records) : previous_(std::exchange(recording, records)) {}
RecordingScope::~RecordingScope() { recording = previous_; }

/// Makes the node of a call, whose inputs are valid, and gives it to the output.
class Recorder {
 public:
  Recorder(const char* operation, std::size_t inputs) : operation_(operation) {
    inputs_.reserve(inputs);
  }
  void add(const Tensor& input) { inputs_.push_back(input.node()); }
  void finish(Tensor& output, std::vector<SavedTensor> saved, Rule rule, Output keeps,
              bool is_view) {
    auto node =
        std::make_shared<Node>(operation_, std::move(inputs_), std::move(saved), std::move(rule));
    node->is_view_ = is_view;
    if (keeps == Output::saved) node->output_.emplace(output.detach());
    output.set_node(std::move(node));
  }

 private:
  const char* operation_;
  std::vector<std::shared_ptr<Node>> inputs_;
};

void record(const char* operation, Tensor& output, const Inputs& inputs,
            std::vector<SavedTensor> saved, Rule rule, Output keeps) {
  Recorder recorder(operation, inputs.size());
  bool is_view = false;
  for (const auto& [input] : inputs) {
    check_record(operation, *input);
    is_view |= input->storage() == output.storage();
    recorder.add(*input);
  }
  recorder.finish(output, std::move(saved), std::move(rule), keeps, is_view);
}

void record_in_place(const char* operation, Tensor& x, const Inputs& others,
                     std::vector<SavedTensor> saved, Rule rule, Output keeps) {
  Recorder recorder(operation, 1 + others.size());
  recorder.add(x);
  for (const auto& [other] : others) recorder.add(*other);
  recorder.finish(x, std::move(saved), std::move(rule), keeps, false);
}

void check_record(const char* operation, const Tensor& x) {
  if (!x.is_behind() || !x.requires_grad() || x.node()->is_leaf()) return;
  throw StateError(
      "{}: expected a tensor of shape {} as it was computed, got one changed in place through "
      "another tensor that shares its memory; take the view again after the change, or clone "
      "before it",
      operation, x.shape());
}

void set_requires_grad(Tensor& x, bool requires_grad) {
  if (!requires_grad) {
    x.set_node(nullptr);
  } else if (!is_floating(x.dtype())) {
    throw DTypeError("requires_grad: expected a floating dtype, got {}", x.dtype());
  } else if (!x.requires_grad()) {
    x.set_node(std::make_shared<Node>());
  }
}

std::optional<Tensor> grad(const Tensor& x) {
  return x.requires_grad() ? x.node()->grad : std::nullopt;
}

}  // namespace loup::autograd
