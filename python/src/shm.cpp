#include "loup/memory/shm.h"

#include <memory>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "loup/base/error.h"
#include "loup/memory/segment_info.h"
#include "loup/memory/sigbus_shield.h"
#include "loup/tensor/mapped.h"

// Mapped files and shared segments. Python's half is in loup/shm.py and loup/pickling.py.

namespace loup::python {

using namespace nb::literals;

namespace {

using SegmentPtr = std::shared_ptr<RefcountedMapAllocator>;

/// A segment as Python holds it. Tensors inside keep the memory as well: closing only lets go of
/// this object's part.
class SegmentObject {
 public:
  explicit SegmentObject(SegmentPtr segment) : segment_(std::move(segment)) {}

  RefcountedMapAllocator& operator*() const {
    if (!segment_) throw StateError("segment: expected an open segment, got one after close");
    return *segment_;
  }
  RefcountedMapAllocator* operator->() const { return &**this; }
  DataPtr data() const {
    RefcountedMapAllocator& segment = **this;
    return {segment.data(), segment.size(), segment_, !segment.mapping()->is_read_only};
  }
  bool is_closed() const { return segment_ == nullptr; }
  void close() { segment_.reset(); }

 private:
  SegmentPtr segment_;
};

Lifetime lifetime_from(const std::string& name) {
  for (const Lifetime lifetime : {Lifetime::last_detach, Lifetime::persistent}) {
    if (name == to_string(lifetime)) return lifetime;
  }
  throw ValueError("create: expected the lifetime \"last_detach\" or \"persistent\", got \"{}\"",
                   name);
}

/// What `make` returns, where it will stay: segments do not move, so make_shared cannot have it.
template <class Make>
SegmentObject owned(const Make& make) {
  return SegmentObject(
      SegmentPtr(new RefcountedMapAllocator(make())));  // NOLINT(modernize-make-shared)
}

SegmentObject create(const std::optional<std::string>& name, std::size_t bytes,
                     const std::string& lifetime, const std::string& label, std::size_t capacity) {
  const SegmentOptions options{
      .lifetime = lifetime_from(lifetime), .label = label, .capacity = capacity};
  const nb::gil_scoped_release release;
  return owned([&] { return RefcountedMapAllocator::create(name.value_or(""), bytes, options); });
}

SegmentObject anonymous(std::size_t bytes, const std::string& label, bool seal_writes) {
  const SegmentOptions options{.label = label, .seal_writes = seal_writes};
  const nb::gil_scoped_release release;
  return owned([&] { return RefcountedMapAllocator::anonymous(bytes, options); });
}

SegmentObject attach(const std::string& name, bool readonly, bool allow_foreign, double timeout) {
  const AttachOptions options{
      .bytes = {},
      .read_only = readonly,
      .allow_foreign = allow_foreign,
      .timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeout * 1000))};
  const nb::gil_scoped_release release;
  return owned([&] { return RefcountedMapAllocator::attach(name, options); });
}

Tensor tensor_of_segment(const SegmentObject& segment, nb::handle type, nb::handle shape,
                         std::size_t offset) {
  const DType dtype = dtype_from("tensor", type).value_or(DType::f32);
  const DataPtr data = segment.data();
  if (!shape.is_none()) return loup::tensor_in(data, dtype, dims_from("tensor", shape), offset);
  const std::size_t rest = offset < data.bytes ? data.bytes - offset : 0;
  const auto count = rest / static_cast<std::size_t>(item_bytes(dtype));
  return loup::tensor_in(data, dtype, {static_cast<std::int64_t>(count)}, offset);
}

/// Data, then the mask at the next multiple of 64.
MaskedTensor masked_tensor_of(const SegmentObject& segment, nb::handle type, nb::handle shape,
                              std::size_t offset) {
  const DType dtype = dtype_from("masked_tensor", type).value_or(DType::f32);
  const Shape dims = dims_from("masked_tensor", shape);
  const Tensor data = loup::tensor_in(segment.data(), dtype, dims, offset);
  const std::size_t end = offset + static_cast<std::size_t>(data.bytes());
  const Tensor mask = loup::tensor_in(segment.data(), DType::boolean, dims, (end + 63) / 64 * 64);
  return as_masked_tensor(data, mask);
}

nb::dict dict_of(const SegmentInfo& info) {
  nb::list holders;
  for (const SegmentHolder& holder : info.holders) {
    nb::dict entry;
    entry["pid"] = holder.pid;
    entry["start_time"] = holder.start_time;
    entry["pid_namespace"] = holder.pid_namespace;
    entry["attached"] = static_cast<double>(holder.time) * 1e-9;
    entry["references"] = holder.references;
    holders.append(entry);
  }
  nb::dict result;
  result["name"] = info.name;
  result["path"] = info.path;
  result["label"] = info.label;
  result["nbytes"] = info.bytes;
  result["capacity"] = info.capacity;
  result["allocated"] = info.allocated;
  result["lifetime"] = to_string(info.lifetime);
  result["live"] = info.is_live();
  result["attachments"] = info.attachments;
  result["generation"] = info.generation;
  result["uid"] = info.uid;
  result["creator_pid"] = info.creator_pid;
  result["created"] = static_cast<double>(info.created) * 1e-9;
  result["holders"] = holders;
  return result;
}

nb::list list(const std::optional<std::string>& ns) {
  nb::list result;
  for (const SegmentInfo& info : shm::list(ns.value_or(""))) result.append(dict_of(info));
  return result;
}

nb::tuple sweep(const std::optional<std::string>& ns, bool dry_run) {
  const shm::SweepReport report = shm::sweep({.ns = ns.value_or(""), .dry_run = dry_run});
  return nb::make_tuple(report.removed, report.kept, report.failed);
}

Tensor map_file(nb::handle path, nb::handle dtype, nb::handle shape, bool shared, bool readonly,
                std::size_t offset) {
  const std::optional<Shape> dims =
      shape.is_none() ? std::nullopt : std::optional(dims_from("from_file", shape));
  return from_file(path_from(path).string(), dtype_from("from_file", dtype).value_or(DType::f32),
                   dims, {.shared = shared, .read_only = readonly, .offset = offset});
}

void bind_mapping(nb::module_& m) {
  nb::class_<Mapping>(m, "Mapping", "What the memory of a tensor is mapped from.")
      .def_prop_ro(
          "kind", [](const Mapping& x) { return to_string(x.kind); },
          "\"file\", \"memory\" or \"segment\".")
      .def_ro("path", &Mapping::path)
      .def_prop_ro("flags", [](const Mapping& x) { return to_string(x.flags); })
      .def_ro("nbytes", &Mapping::bytes)
      .def_ro("readonly", &Mapping::is_read_only)
      .def_ro("shared", &Mapping::is_shared, "True when others see changes.")
      .def_prop_ro(
          "lifetime",
          [](const Mapping& x) -> std::optional<std::string> {
            if (!x.lifetime) return std::nullopt;
            return to_string(*x.lifetime);
          },
          "Of a segment: \"last_detach\", \"persistent\" or \"anonymous\"; otherwise None.")
      .def("__repr__", [](const Mapping& x) {
        return fmt::format("Mapping(kind='{}', path='{}', flags='{}', nbytes={})",
                           to_string(x.kind), x.path, to_string(x.flags), x.bytes);
      });
  auto tensor = nb::borrow<nb::class_<Tensor>>(nb::type<Tensor>());
  tensor.def(
      "mapping",
      [](const Tensor& x) -> std::optional<Mapping> {
        const Mapping* const mapping = x.mapping();
        return mapping == nullptr ? std::nullopt : std::optional(*mapping);
      },
      "What the memory is mapped from; None for ordinary memory. Views keep it.");
}

/// A class of loup/shm.py.
nb::object python_class(const char* name) { return nb::module_::import_("loup.shm").attr(name); }

void bind_segment(nb::module_& m) {
  nb::class_<SegmentObject>(m, "Segment", "Shared memory; tensors inside keep it alive.")
      .def_prop_ro(
          "name", [](const SegmentObject& x) { return x->name(); },
          "The full name; empty when it has none.")
      .def_prop_ro("nbytes", [](const SegmentObject& x) { return x->size(); })
      .def_prop_ro("readonly", [](const SegmentObject& x) { return x->mapping()->is_read_only; })
      .def_prop_ro("closed", &SegmentObject::is_closed)
      .def(
          "mapping", [](const SegmentObject& x) { return *x->mapping(); },
          "Kind, path, flags and lifetime.")
      .def("tensor", tensor_of_segment, "dtype"_a = "float32", "shape"_a.none() = nb::none(),
           "offset"_a = 0,
           nb::sig("def tensor(self, dtype: object = \"float32\", shape: int | "
                   "collections.abc.Sequence[int] | None = None, offset: int = 0) -> Tensor"),
           "A tensor in the segment, from a byte on; by default all of it.")
      .def("masked_tensor", masked_tensor_of, "dtype"_a, "shape"_a, "offset"_a = 0,
           nb::sig("def masked_tensor(self, dtype: object, shape: int | "
                   "collections.abc.Sequence[int], offset: int = 0) -> MaskedTensor"),
           "Data and, behind them, a mask in the segment.")
      .def(
          "grow", [](const SegmentObject& x, std::size_t bytes) { x->grow(bytes); }, "nbytes"_a,
          "Make it longer; others see it after refresh().")
      .def(
          "refresh", [](const SegmentObject& x) { return x->refresh(); },
          "Map what others have added; True when there is more.")
      .def(
          "verify", [](const SegmentObject& x) { return x->verify(); },
          "False when somebody has cut the memory short.")
      .def(
          "attachments", [](const SegmentObject& x) { return x->attachments(); },
          "How many attachments there are, in all processes.")
      .def(
          "info",
          [](const SegmentObject& x) { return python_class("SegmentInfo")(**dict_of(x->info())); },
          nb::sig("def info(self) -> loup.shm.SegmentInfo"),
          "Name, sizes, lifetime and who is attached.")
      .def(
          "ticket", [](nb::handle self) { return python_class("Ticket")(self); },
          nb::sig("def ticket(self) -> loup.shm.Ticket"),
          "A reference to the segment that can be sent to another process.")
      .def(
          "descriptor", [](const SegmentObject& x) { return x->descriptor(); },
          "A new descriptor that holds a reference; the caller closes it.")
      .def("close", &SegmentObject::close,
           "Let go of the memory; it is unmapped with the last tensor inside.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> Segment"))
      .def(
          "__exit__", [](SegmentObject& x, const nb::args&) { x.close(); },
          nb::sig("def __exit__(self, *args: object) -> None"))
      .def("__repr__", [](const SegmentObject& x) {
        if (x.is_closed()) return std::string("Segment(closed)");
        return fmt::format("Segment('{}', nbytes={}, lifetime='{}')", x->name(), x->size(),
                           to_string(*x->mapping()->lifetime));
      });
}

}  // namespace

void bind_shm(nb::module_& m) {
  bind_mapping(m);
  bind_segment(m);
  m.def("shm_create", create, "name"_a.none(), "nbytes"_a, "lifetime"_a, "label"_a, "capacity"_a);
  m.def("shm_anonymous", anonymous, "nbytes"_a, "label"_a, "seal_writes"_a);
  m.def("shm_attach", attach, "name"_a, "readonly"_a, "allow_foreign"_a, "timeout"_a);
  m.def(
      "shm_from_descriptor",
      [](const std::string& name, int fd, bool readonly) {
        const MapFlags access = readonly ? MapFlags::read_only : MapFlags::none;
        return SegmentObject(std::make_shared<RefcountedMapAllocator>(
            WITH_FD, name, fd, MapFlags::shared_mem | access));
      },
      "name"_a, "fd"_a, "readonly"_a);
  m.def(
      "shm_drop",
      [](const std::string& name, int fd) {
        memory::Fd(fd).reset();
        if (!name.empty()) memory::replace_stale(memory::shm_path(name));
      },
      "name"_a, "fd"_a);
  m.def("shm_list", list, "ns"_a.none(),
        nb::sig("def shm_list(ns: str | None) -> list[dict[str, typing.Any]]"));
  m.def(
      "shm_info", [](const std::string& name) { return dict_of(shm::info(name)); }, "name"_a,
      nb::sig("def shm_info(name: str) -> dict[str, typing.Any]"));
  m.def("shm_sweep", sweep, "ns"_a.none(), "dry_run"_a,
        nb::sig("def shm_sweep(ns: str | None, dry_run: bool) -> tuple[list[str], list[str], "
                "list[str]]"));
  m.def("shm_remove", shm::remove, "name"_a, "force"_a);
  m.def("set_sigbus_shield", set_sigbus_shield, "on"_a,
        "While on, memory whose file was cut short reads as zeros instead of ending the process.");
  m.def("map_file", map_file, "path"_a, "dtype"_a.none(), "shape"_a.none(), "shared"_a,
        "readonly"_a, "offset"_a,
        nb::sig("def map_file(path: object, dtype: object, shape: int | "
                "collections.abc.Sequence[int] | None, shared: bool, readonly: bool, offset: int) "
                "-> Tensor"));
}

}  // namespace loup::python
