#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands.h"
#include "loup/io/json.h"
#include "loup/loup.h"

namespace loup::cli {

namespace {

namespace json = io::json;

std::string item_json(const io::ItemInfo& item) {
  return fmt::format(
      R"({{"name": {}, "dtype": "{}", "shape": [{}], "bytes": {}, "masked": {}, "valid": {}}})",
      item.name ? json::quote(*item.name) : "null", item.dtype, fmt::join(item.shape, ", "),
      item.bytes, item.valid.has_value(), item.valid ? fmt::format("{}", *item.valid) : "null");
}

std::string file_json(const std::string& path, const io::FileInfo& info) {
  std::vector<std::string> items;
  for (const io::ItemInfo& item : info.items) items.push_back(item_json(item));
  std::vector<std::string> metadata;
  for (const auto& [key, value] : info.metadata) {
    metadata.push_back(fmt::format("{}: {}", json::quote(key), json::quote(value)));
  }
  // A path may be any bytes, JSON only UTF-8.
  return fmt::format(
      "{{\"schema\": \"loup.file.1\", \"path\": {}, \"format\": \"{}\", \"bytes\": {}, "
      "\"tensors\": [{}], \"metadata\": {{{}}}}}\n",
      json::is_utf8(path) ? json::quote(path) : "null", io::name(info.format), info.bytes,
      fmt::join(items, ", "), fmt::join(metadata, ", "));
}

/// Names come from the file: nothing in them may steer the terminal.
std::string shown(const std::string& name) {
  const bool is_plain = std::ranges::none_of(name, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte >= 0x7F;
  });
  return is_plain && !name.empty() ? name : json::quote(name);
}

std::string counted(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string text_of(const std::string& path, const io::FileInfo& info) {
  std::vector<std::vector<std::string>> rows;
  for (const io::ItemInfo& item : info.items) {
    const std::int64_t size = element_count(item.shape);
    rows.push_back({item.name ? shown(*item.name) : "-", fmt::format("{}", item.dtype),
                    fmt::format("{}", item.shape), counted(item.bytes, "byte"),
                    item.valid ? fmt::format("masked, {} of {} valid", *item.valid, size) : ""});
  }
  std::vector<std::size_t> widths(5);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text = fmt::format("{}: {}, {}, {}\n", shown(path), io::name(info.format),
                                 counted(static_cast<std::int64_t>(info.bytes), "byte"),
                                 counted(std::ssize(info.items), "tensor"));
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("  {:<{}}", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  for (const auto& [key, value] : info.metadata) {
    text += fmt::format("metadata {}: {}\n", shown(key), shown(value));
  }
  return text;
}

}  // namespace

std::string file_info(const std::string& path, Format format) {
  const io::FileInfo info = io::file_info(path);
  return format == Format::json ? file_json(path, info) : text_of(path, info);
}

}  // namespace loup::cli
