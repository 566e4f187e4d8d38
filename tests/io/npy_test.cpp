#include "loup/io/npy.h"

#include <bit>
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

/// An .npy file of any version with any header.
std::string npy(std::string_view header, std::string_view data = "", int version = 1) {
  std::string text = "\x93NUMPY"s;
  text += {static_cast<char>(version), '\0'};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    text += static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  }
  return text.append(header).append(data);
}

std::string header_of(std::string_view descr, std::string_view shape,
                      std::string_view order = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", descr, order,
                     shape);
}

std::string npy_text(const Tensor& x) {
  const NpyImage image = npy_image(x);
  EXPECT_EQ(image.header.size() % 64, 0U);
  return image.header + test::text_of(bytes_of(image.elements));
}

void expect_npy_refused(const std::string& file, const std::string& rule,
                        const std::string& value) {
  expect_error<FormatError>([&] { read_npy(file_of(file)); }, "load: expected " + rule,
                            "got " + value);
}

class EveryNpyDType : public testing::TestWithParam<DType> {};

TEST_P(EveryNpyDType, ReadsWhatWasWritten) {
  test::Random random;
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{5}, Shape{2, 0, 3}, Shape{2, 3, 4}}) {
    const Tensor x = test::random_tensor(random, shape, GetParam());
    if (GetParam() == DType::bf16) {
      expect_error<DTypeError>([&] { npy_image(x); }, "save: expected a dtype that NumPy has",
                               "got bfloat16");
      continue;
    }
    const Tensor y = read_npy(file_of(npy_text(x)));
    EXPECT_EQ(y.dtype(), x.dtype());
    EXPECT_EQ(y.shape(), shape);
    EXPECT_EQ(test::bits_of(y), test::bits_of(x));
  }
}

TEST_P(EveryNpyDType, WritesTransposedTensorsAsTheyLie) {
  if (GetParam() == DType::bf16) return;
  test::Random random;
  const Tensor x = ops::transpose(test::random_tensor(random, {3, 4}, GetParam()), 0, 1);
  const std::string file = npy_text(x);
  EXPECT_NE(file.find("'fortran_order': True, 'shape': (4, 3)"), std::string::npos);
  const Tensor y = read_npy(file_of(file));
  EXPECT_EQ(y.strides(), x.strides());
  EXPECT_EQ(test::bits_of(y), test::bits_of(x));
}

INSTANTIATE_TEST_SUITE_P(All, EveryNpyDType, testing::ValuesIn(test::all_dtypes()),
                         [](const auto& which) { return std::string(name(which.param)); });

TEST(Npy, WritesOtherStridesInRowMajorOrder) {
  const Tensor x = ops::slice(arange(0, 12), 0, 0, 12, 3);
  EXPECT_EQ(test::elements<int>(read_npy(file_of(npy_text(x)))), (std::vector<int>{0, 3, 6, 9}));
}

TEST(Npy, HasTheHeaderThatNumPyWrites) {
  EXPECT_EQ(npy_image(zeros({2, 3})).header,
            "\x93NUMPY\x01\x00\x76\x00"s +
                "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" +
                std::string(118 - 60, ' ') + "\n");
  EXPECT_NE(npy_image(zeros({}, DType::boolean)).header.find("'|b1'"), std::string::npos);
  EXPECT_NE(npy_image(zeros({}, DType::i8)).header.find("'shape': (), }"), std::string::npos);
  EXPECT_NE(npy_image(zeros({7}, DType::i8)).header.find("'shape': (7,), }"), std::string::npos);
}

TEST(Npy, SharesAlignedElementsOfTheMachinesByteOrder) {
  const DataPtr file = file_of(npy_text(arange(0, 6)));
  const Tensor x = read_npy(file);
  EXPECT_EQ(x.raw_data(), static_cast<std::byte*>(file.data) + 128);
  EXPECT_EQ(x.storage().bytes(), 48U);
}

TEST(Npy, CopiesElementsThatAreNotAligned) {
  const DataPtr file = file_of(npy(header_of("<i2", "(2,)") + " ", "\1\0\2\0"s));
  const Tensor x = read_npy(file);
  EXPECT_EQ(test::elements<int>(x), (std::vector<int>{1, 2}));
  EXPECT_EQ(std::bit_cast<std::uintptr_t>(x.raw_data()) % 2, 0U);
}

TEST(Npy, ReadsVersions1To3) {
  for (const int version : {1, 2, 3}) {
    const Tensor x = read_npy(file_of(npy(header_of("|u1", "(3,)"), "abc", version)));
    EXPECT_EQ(test::elements<int>(x), (std::vector<int>{'a', 'b', 'c'})) << version;
  }
}

TEST(Npy, ReadsBigEndianElements) {
  EXPECT_EQ(test::elements<int>(read_npy(file_of(npy(header_of(">i2", "(2,)"), "\1\2\3\4")))),
            (std::vector<int>{0x102, 0x304}));
  EXPECT_EQ(test::elements<int>(read_npy(file_of(npy(header_of(">i4", "(1,)"), "\0\0\1\2"s)))),
            (std::vector<int>{0x102}));
  EXPECT_EQ(read_npy(file_of(npy(header_of(">f8", "()"), "\x3F\xF8\0\0\0\0\0\0"s))).item<double>(),
            1.5);
  EXPECT_EQ(read_npy(file_of(npy(header_of(">f2", "()"), "\x3E\0"s))).item<double>(), 1.5);
}

TEST(Npy, ReadsBytesOfBoolOtherThan1AsTrue) {
  const Tensor x = read_npy(file_of(npy(header_of("|b1", "(11,)"), "\0\1\2\0\0\0\0\0\0\0\xFF"s)));
  std::vector<std::uint8_t> bytes;
  for (const std::byte byte : test::bits_of(x))
    bytes.push_back(std::to_integer<std::uint8_t>(byte));
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1}));
}

TEST(Npy, ReadsHeadersInEverySpellingOfPython) {
  for (const char* const text :
       {"{\"shape\":(1,),\"descr\":\"|i1\",\"fortran_order\":False}",
        " { 'fortran_order' : False ,\n'shape' : ( 1 , ) , 'descr' : '|i1' , } \n",
        "{'descr': '|i1', 'fortran_order': False, 'shape': (1L,)}",
        "{'descr': '<i1', 'fortran_order': True, 'shape': (1,)}"}) {
    EXPECT_EQ(read_npy(file_of(npy(text, "\5"))).item<int>(), 5) << text;
  }
}

TEST(Npy, RefusesFilesThatAreSomethingElse) {
  expect_npy_refused("", "an .npy file that begins with \\x93NUMPY", "an empty one");
  expect_npy_refused("PK\3\4", "an .npy file that begins with \\x93NUMPY", "another beginning");
  expect_npy_refused("\x93NUMPY\x04\x00"s, ".npy version 1.0, 2.0 or 3.0", "4.0");
  expect_npy_refused("\x93NUMPY\x01\x07"s, ".npy version 1.0, 2.0 or 3.0", "1.7");
}

TEST(Npy, RefusesEveryTruncation) {
  const std::string whole = npy_text(arange(0, 3));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(read_npy(file_of(whole.substr(0, size))), FormatError) << size;
  }
  expect_npy_refused(whole + "x", "24 bytes for shape [3] of int64", "25");
  expect_npy_refused(whole.substr(0, 140), "24 bytes for shape [3] of int64", "12");
  expect_npy_refused(whole.substr(0, 100), "an .npy header of at most 90 bytes", "one of 118");
  expect_npy_refused(whole.substr(0, 9), "the length of the .npy header", "a file of 9 bytes");
}

TEST(Npy, RefusesHeadersThatAreTooLong) {
  std::string file = "\x93NUMPY\x02\x00"s + "\xFF\xFF\xFF\xFF";
  expect_npy_refused(file, "an .npy header of at most 0 bytes", "one of 4294967295");
  expect_npy_refused(npy(std::string((1 << 20) + 1, ' '), "", 2),
                     "an .npy header of at most 1048576 bytes", "one of 1048577");
}

TEST(Npy, RefusesHostileHeaders) {
  const auto refused = [](std::string_view header, const std::string& rule,
                          const std::string& value) {
    SCOPED_TRACE(header);
    expect_npy_refused(npy(header, "data"), rule, value);
  };
  const std::string keys = "the keys descr, fortran_order and shape in an .npy header";
  refused("", "a dict at byte 0 of the .npy header", "the end");
  refused("[]", "a dict at byte 0 of the .npy header", "'['");
  refused("{}", keys, "no descr");
  refused("{'descr': '<f4'}", keys, "no fortran_order");
  refused("{'descr': '<f4', 'fortran_order': True}", keys, "no shape");
  refused("{'descr': '<f4', 'x': 1}", keys, "'x'");
  refused("{'descr': '<f4', 'descr': '<f4'}", "every key of an .npy header once", "'descr' again");
  refused("{'descr': '<f4' 'shape': ()}", "',' or '}' at byte 16 of the .npy header", "'''");
  refused("{'descr' '<f4'}", "':' at byte 9 of the .npy header", "'''");
  refused("{descr: '<f4'}", "a key in quotes at byte 1 of the .npy header", "'d'");
  refused("{'descr", "a closing quote at byte 7 of the .npy header", "the end");
  refused("{'de\\x73cr': 1}", "a plain character in quotes at byte 4 of the .npy header", "'\\'");
  refused("{'fortran_order': 1}", "True or False at byte 18 of the .npy header", "'1'");
  refused("{'fortran_order': __import__('os')}", "True or False at byte 18 of the .npy header",
          "'_'");
  refused("{'shape': [1]}", "a tuple at byte 10 of the .npy header", "'['");
  refused("{'shape': (1)}", "',' at byte 12 of the .npy header", "')'");
  refused("{'shape': (1 2)}", "',' at byte 13 of the .npy header", "'2'");
  refused("{'shape': (-1,)}", "a size at byte 11 of the .npy header", "'-'");
  refused("{'shape': (01,)}", "a size without leading zeros at byte 11 of the .npy header", "'0'");
  refused("{'shape': (99999999999999999999,)}",
          "a size of at most 63 bits at byte 29 of the .npy header", "'9'");
  refused("{'shape': (1,1,1,1,1,1,1,1,1)}", "at most 8 dimensions", "more");
  refused(header_of("|i1", "(4,)") + "x",
          "only white space behind the dict at byte 58 of the .npy header", "'x'");
  refused(header_of("<f4", "(4611686018427387904, 4)"), "at most 9223372036854775807 bytes",
          "shape [4611686018427387904, 4] of float32");
  refused(header_of("<f4", "(0, 9223372036854775807, 9223372036854775807)"),
          "at most 9223372036854775807 bytes",
          "shape [0, 9223372036854775807, 9223372036854775807] of float32");
  refused(header_of("<f4", "(1000000000000,)"),
          "4000000000000 bytes for shape [1000000000000] of float32", "4");
}

class ForeignDType : public testing::TestWithParam<const char*> {};

TEST_P(ForeignDType, IsRefused) {
  expect_npy_refused(npy(header_of(GetParam(), "()"), "data"),
                     "a dtype of bool, uint8, int8 to int64 or float16 to float64",
                     fmt::format("'{}'", GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, ForeignDType,
                         testing::Values("<u2", "<u4", "<u8", "<c8", "<f16", "<V2", "|S5", "<U3",
                                         "<M8[ns]", "|O", "|O8", "f4", "<f", "<f44", "|f4", "!f4",
                                         "", "<"));

TEST(ForeignDType, SaysThatPickledObjectsAreNeverLoaded) {
  try {
    read_npy(file_of(npy(header_of("|O", "(1,)"), "pickle")));
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_TRUE(std::string_view(error.what()).ends_with("; pickled objects are never loaded"));
  }
  expect_npy_refused(npy("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': ()}", "data"),
                     "a dtype of bool, uint8, int8 to int64 or float16 to float64",
                     "a structured one");
}

TEST(Npy, RoundTripsAnyShapeAndStrides) {
  test::Random random;
  for (int i = 0; i < 200; ++i) {
    Shape shape;
    const std::int64_t ndim = random.integer(0, max_ndim);
    for (int d = 0; d < ndim; ++d) shape.push_back(random.integer(0, 3));
    const DType dtype = random.pick(test::all_dtypes());
    if (dtype == DType::bf16) continue;
    Tensor x = test::random_tensor(random, shape, dtype);
    for (int d = 0; d + 1 < ndim; ++d) {
      if (random.chance(0.5)) x = ops::transpose(x, d, random.integer(d, ndim - 1));
    }
    const Tensor y = read_npy(file_of(npy_text(x)));
    ASSERT_EQ(y.shape(), x.shape());
    ASSERT_EQ(test::bits_of(y), test::bits_of(x));
  }
}

}  // namespace
}  // namespace loup::io
