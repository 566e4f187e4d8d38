#include "loup/io/files.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "loup/io/file_info.h"

namespace loup::python {

using namespace nb::literals;

namespace {

/// A str; `expected` says where.
std::string text_from(nb::handle object, const char* expected) {
  if (PyUnicode_Check(object.ptr()) == 0) {
    throw_type_error("save: expected {}, got {}", expected, class_name(object));
  }
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (text == nullptr) throw nb::python_error();
  return {text, static_cast<std::size_t>(size)};
}

io::Item item_from(nb::handle object) {
  if (const MaskedTensor* x = masked_tensor_in(object)) return *x;
  return as_tensor("save", object);
}

io::Content content_from(nb::handle object) {
  if (PyDict_Check(object.ptr()) == 0) {
    return std::visit([](const auto& x) { return io::Content(x); }, item_from(object));
  }
  io::Items items;
  for (const auto [key, value] : nb::borrow<nb::dict>(object)) {
    items.emplace(text_from(key, "a dict with names as keys"), item_from(value));
  }
  return items;
}

io::Metadata metadata_from(nb::handle object) {
  io::Metadata metadata;
  if (object.is_none()) return metadata;
  if (PyDict_Check(object.ptr()) == 0) {
    throw_type_error("save: expected metadata as a dict, got {}", class_name(object));
  }
  for (const auto [key, value] : nb::borrow<nb::dict>(object)) {
    constexpr const char* expected = "metadata as a dict of str";
    metadata.emplace(text_from(key, expected), text_from(value, expected));
  }
  return metadata;
}

void save(nb::handle object, nb::handle path, nb::handle metadata, bool compressed) {
  const io::Content content = content_from(object);
  const std::filesystem::path target = path_from(path);
  const io::SaveOptions options{.metadata = metadata_from(metadata), .compressed = compressed};
  const nb::gil_scoped_release release;
  std::visit([&](const auto& x) { io::save(target, x, options); }, content);
}

nb::object load(nb::handle path, bool mapped, bool masked, bool verify) {
  const std::filesystem::path source = path_from(path);
  const io::File file = [&] {
    const nb::gil_scoped_release release;
    return io::load(source, {.mapped = mapped, .masked = masked, .verify = verify});
  }();
  if (const auto* x = std::get_if<Tensor>(&file.content)) return nb::cast(*x);
  if (const auto* x = std::get_if<MaskedTensor>(&file.content)) return nb::cast(*x);
  nb::dict result;
  for (const auto& [key, item] : std::get<io::Items>(file.content)) {
    result[nb::cast(key)] = std::visit([](const auto& x) { return nb::cast(x); }, item);
  }
  return result;
}

nb::dict file_info(nb::handle path) {
  const std::filesystem::path source = path_from(path);
  const io::FileInfo info = [&] {
    const nb::gil_scoped_release release;
    return io::file_info(source);
  }();
  nb::list items;
  for (const io::ItemInfo& item : info.items) {
    nb::dict entry;
    entry["name"] = item.name;
    entry["dtype"] = dtype_object(item.dtype);
    entry["shape"] = tuple_of(item.shape);
    entry["bytes"] = item.bytes;
    entry["masked"] = item.valid.has_value();
    entry["valid"] = item.valid;
    items.append(entry);
  }
  nb::dict metadata;
  for (const auto& [key, value] : info.metadata) metadata[nb::cast(key)] = value;
  nb::dict result;
  result["format"] = std::string(io::name(info.format));
  result["bytes"] = info.bytes;
  result["tensors"] = items;
  result["metadata"] = metadata;
  return result;
}

}  // namespace

void bind_files(nb::module_& m) {
  m.def(
      "save", save, "obj"_a.none(), "path"_a.none(), nb::kw_only(),
      "metadata"_a.none() = nb::none(), "compressed"_a = false,
      nb::sig("def save(obj: object, path: str | bytes | os.PathLike[str] | os.PathLike[bytes], *, "
              "metadata: dict[str, str] | None = None, compressed: bool = False) -> None"),
      "Write a tensor, a MaskedTensor or a dict of them to an .npy, .npz or .safetensors file, "
      "which appears or is replaced as a whole.");
  m.def(
      "load", load, "path"_a.none(), nb::kw_only(), "mapped"_a = true, "masked"_a = true,
      "verify"_a = true,
      nb::sig("def load(path: str | bytes | os.PathLike[str] | os.PathLike[bytes], *, mapped: bool "
              "= True, masked: bool = True, verify: bool = True) -> typing.Any"),
      "Read an .npy, .npz or .safetensors file: a tensor, a MaskedTensor or a dict of them. They "
      "share the file's pages where that is possible, copy-on-write, unless mapped is false; a "
      "tensor and its .mask become a MaskedTensor unless masked is false.");
  m.def("file_info", file_info, "path"_a.none(),
        nb::sig("def file_info(path: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> "
                "dict[str, typing.Any]"),
        "What is in a file: its format, the dtypes and shapes of its tensors, its metadata.");
}

}  // namespace loup::python
