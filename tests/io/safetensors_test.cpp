#include "loup/io/safetensors.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "loup/ops/views.h"
#include "loup/tensor/create.h"
#include "tests/io/file_support.h"
#include "tests/support/errors.h"
#include "tests/support/tensors.h"

namespace loup::io {
namespace {

using namespace std::string_literals;
using test::expect_error;
using test::file_of;
using Tensors = std::map<std::string, Tensor, std::less<>>;

/// A file with any header.
std::string file(std::string_view header, std::string_view data = "") {
  std::string text;
  for (unsigned i = 0; i < 8; ++i) text += static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  return text.append(header).append(data);
}

std::string entry(std::string_view name, std::string_view dtype, std::string_view shape,
                  std::string_view offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{}]}})", name, dtype,
                     shape, offsets);
}

std::string safetensors_text(const Tensors& tensors, const Metadata& metadata = {}) {
  const SafetensorsImage image = safetensors_image(tensors, metadata);
  EXPECT_EQ(image.header.size() % 64, 0U);
  std::string text = image.header;
  for (const Tensor& x : image.elements) text += test::text_of(bytes_of(x));
  return text;
}

Tensors read(const std::string& text) {
  const DataPtr bytes = file_of(text);
  Tensors tensors;
  for (const auto& [name, place] : parse_safetensors(bytes_of(bytes)).tensors) {
    tensors.emplace(name, tensor_in(bytes, place));
  }
  return tensors;
}

void expect_safetensors_refused(const std::string& text, const std::string& rule,
                                const std::string& value) {
  SCOPED_TRACE(text);
  expect_error<FormatError>([&] { read(text); }, "load: expected " + rule, "got " + value);
}

TEST(Safetensors, ReadsWhatWasWritten) {
  test::Random random;
  Tensors tensors;
  for (const DType dtype : test::all_dtypes()) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{5}, Shape{2, 0, 3}, Shape{3, 1, 7}}) {
      tensors.emplace(fmt::format("{} {}", dtype, shape),
                      test::random_tensor(random, shape, dtype));
    }
  }
  const Metadata metadata = {{"a", "\"é\n"}, {"", ""}};
  const std::string text = safetensors_text(tensors, metadata);
  EXPECT_EQ(parse_safetensors(std::as_bytes(std::span(text))).metadata, metadata);
  const Tensors back = read(text);
  ASSERT_EQ(back.size(), tensors.size());
  for (const auto& [name, x] : tensors) {
    const Tensor& y = back.at(name);
    EXPECT_EQ(y.dtype(), x.dtype()) << name;
    EXPECT_EQ(y.shape(), x.shape()) << name;
    EXPECT_EQ(test::bits_of(y), test::bits_of(x)) << name;
  }
}

TEST(Safetensors, WritesLargeItemsFirstThenByName) {
  const std::string text = safetensors_text({{"a", zeros({1}, DType::boolean)},
                                             {"b", zeros({1}, DType::f64)},
                                             {"c", zeros({3}, DType::f16)},
                                             {"d", zeros({1}, DType::i64)}});
  EXPECT_LT(text.find("\"b\""), text.find("\"d\""));
  EXPECT_LT(text.find("\"d\""), text.find("\"c\""));
  EXPECT_LT(text.find("\"c\""), text.find("\"a\""));
  EXPECT_NE(text.find(entry("c", "F16", "3", "16,22")), std::string::npos);
}

TEST(Safetensors, WritesStridedTensorsInRowMajorOrder) {
  const Tensor x = ops::transpose(from_data<int>(std::vector<int>{1, 2, 3, 4}, {2, 2}), 0, 1);
  EXPECT_EQ(test::elements<int>(read(safetensors_text({{"x", x}})).at("x")),
            (std::vector<int>{1, 3, 2, 4}));
}

TEST(Safetensors, SharesWhatIsAlignedAndCopiesWhatIsNot) {
  const std::string header =
      "{" + entry("a", "U8", "1", "0,1") + "," + entry("x", "I16", "1", "1,3") + "}";
  const DataPtr bytes = file_of(file(header, "\7\1\0"s));
  const SafetensorsHeader parsed = parse_safetensors(bytes_of(bytes));
  const Tensor a = tensor_in(bytes, parsed.tensors.at("a"));
  EXPECT_EQ(a.raw_data(), static_cast<std::byte*>(bytes.data) + 8 + header.size());
  const Tensor x = tensor_in(bytes, parsed.tensors.at("x"));
  EXPECT_EQ(x.item<int>(), 1);
  const auto* const end = static_cast<std::byte*>(bytes.data) + bytes.bytes;
  const bool is_aligned = (8 + header.size() + 1) % 2 == 0;
  EXPECT_EQ(x.raw_data() < end && x.raw_data() >= static_cast<std::byte*>(bytes.data), is_aligned);
}

TEST(Safetensors, CountsAChangeOfOneTensorForThatOneOnly) {
  const DataPtr bytes = file_of(safetensors_text({{"a", zeros({2})}, {"b", zeros({2})}}));
  const SafetensorsHeader parsed = parse_safetensors(bytes_of(bytes));
  const Tensor a = tensor_in(bytes, parsed.tensors.at("a"));
  const Tensor b = tensor_in(bytes, parsed.tensors.at("b"));
  a.set({0}, 1);
  EXPECT_NE(a.storage().version(), b.storage().version());
}

TEST(Safetensors, AcceptsMetadataOfNull) {
  EXPECT_EQ(read(file(R"({"__metadata__":null})")).size(), 0U);
}

TEST(Safetensors, AcceptsAnEmptyFileAndPadding) {
  EXPECT_EQ(read(file("{}")).size(), 0U);
  EXPECT_EQ(read(file("{" + entry("x", "U8", "2", "0,2") + "}   \n", "ab")).size(), 1U);
}

TEST(Safetensors, RefusesEveryTruncation) {
  const std::string whole = safetensors_text({{"x", arange(0, 3)}}, {{"k", "v"}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(read(whole.substr(0, size)), FormatError) << size;
  }
  expect_safetensors_refused(whole + "x", "24 bytes of tensors behind the header", "25");
}

TEST(Safetensors, RefusesLengthsBeyondTheFile) {
  expect_safetensors_refused("", "the 8 bytes of a safetensors header's length", "0");
  expect_safetensors_refused("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F{}"s,
                             "a safetensors header of at most 2 bytes",
                             "one of 9223372036854775807");
  expect_safetensors_refused("\3\0\0\0\0\0\0\0{}"s, "a safetensors header of at most 2 bytes",
                             "one of 3");
  expect_safetensors_refused(file(""), "a safetensors header that begins with '{'", "an empty one");
  expect_safetensors_refused(file(" {}"), "a safetensors header that begins with '{'",
                             "another character");
}

TEST(Safetensors, RefusesHeadersThatSayNonsense) {
  const auto refused = [](std::string_view inside, const std::string& rule,
                          const std::string& value) {
    expect_safetensors_refused(file(fmt::format("{{{}}}", inside), "abcd"), rule, value);
  };
  const std::string parts = "dtype, shape and data_offsets of tensor \"x\"";
  refused(R"("x":{})", parts, "no dtype");
  refused(R"("x":{"dtype":"U8"})", parts, "no shape");
  refused(R"("x":{"dtype":"U8","shape":[4]})", parts, "no data_offsets");
  refused(R"("x":{"dtype":"U8","dtype":"U8"})", parts + " once", "\"dtype\"");
  refused(R"("x":{"size":4})", parts + " once", "\"size\"");
  refused(R"("x":[])", "an object at byte 5 of the JSON", "'['");
  refused(R"("x":{"dtype":8})", "a string at byte 14 of the JSON", "'8'");
  refused(entry("x", "F8_E4M3", "4", "0,4"),
          "the dtype of tensor \"x\" to be one of BOOL, U8, I8, I16, I32, I64, F16, BF16, F32, F64",
          "\"F8_E4M3\"");
  refused(entry("x", "U8", "-4", "0,4"), "a natural number at byte 28 of the JSON", "'-'");
  refused(entry("x", "U8", "1,1,1,1,1,1,1,1,4", "0,4"), "at most 8 dimensions", "more");
  refused(entry("x", "U8", "4", "0"), "two rising data_offsets of tensor \"x\"", "1 of them");
  refused(entry("x", "U8", "4", "0,4,4"), "two rising data_offsets of tensor \"x\"", "3 of them");
  refused(entry("x", "U8", "4", "4,0"), "two rising data_offsets of tensor \"x\"", "4 and 0");
  refused(entry("x", "U8", "4", "0,5"), "4 bytes of tensor \"x\" for shape [4] of uint8", "5");
  refused(entry("x", "F64", "4611686018427387904,4611686018427387904", "0,4"),
          "at most 9223372036854775807 bytes",
          "shape [4611686018427387904, 4611686018427387904] of float64");
  refused(entry("x", "U8", "4", "0,99999999999999999999"),
          "a number of at most 63 bits at byte 67 of the JSON", "'9'");
  refused(entry("x", "U8", "4", "0,4") + "," + entry("x", "U8", "4", "0,4"), "every name once",
          "\"x\" again");
  refused(R"("__metadata__":{"a":"b","a":"c"})", "every key of the metadata once", "\"a\" again");
  refused(R"("__metadata__":{},"__metadata__":{})", "every name once", "\"__metadata__\" again");
  refused(R"("__metadata__":{"a":1})", "a string at byte 21 of the JSON", "'1'");
  expect_safetensors_refused(file("{}{}"), "the end at byte 2 of the JSON", "'{'");
  expect_safetensors_refused(file("{\"\xFF\":1}"), "JSON in UTF-8", "other bytes");
}

TEST(Safetensors, RefusesHolesAndOverlaps) {
  const auto two = [](std::string_view first, std::string_view second) {
    return file("{" + entry("a", "U8", "2", first) + "," + entry("b", "U8", "2", second) + "}",
                "abcd");
  };
  EXPECT_EQ(read(two("0,2", "2,4")).size(), 2U);
  EXPECT_EQ(read(two("2,4", "0,2")).size(), 2U);
  const std::string rule = "tensor \"b\" at offset 2, right behind the one before";
  expect_safetensors_refused(two("0,2", "1,3"), rule, "1");
  expect_safetensors_refused(two("0,2", "0,2"), rule, "0");
  expect_safetensors_refused(two("0,2", "3,5"), rule, "3");
  expect_safetensors_refused(two("1,3", "3,5"),
                             "tensor \"a\" at offset 0, right behind the one before", "1");
  expect_safetensors_refused(file("{" + entry("a", "U8", "2", "0,2") + "}", "abcd"),
                             "2 bytes of tensors behind the header", "4");
  expect_safetensors_refused(file("{" + entry("a", "U8", "6", "0,6") + "}", "abcd"),
                             "6 bytes of tensors behind the header", "4");
  expect_safetensors_refused(file("{}", "abcd"), "0 bytes of tensors behind the header", "4");
}

TEST(Safetensors, RefusesNamesThatCannotBeWritten) {
  const auto refused = [](const Tensors& tensors, const Metadata& metadata, const std::string& rule,
                          const std::string& value) {
    expect_error<ValueError>([&] { safetensors_image(tensors, metadata); },
                             "save: expected " + rule, "got " + value);
  };
  refused({{"\xFF", zeros({1})}}, {}, "names in UTF-8", "other bytes");
  refused({{"__metadata__", zeros({1})}}, {}, "names other than __metadata__", "it");
  refused({}, {{"k", "\xFF"}}, "metadata in UTF-8", "other bytes");
  refused({}, {{"\xFF", "v"}}, "metadata in UTF-8", "other bytes");
}

}  // namespace
}  // namespace loup::io
