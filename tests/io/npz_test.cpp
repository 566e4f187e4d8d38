#include "loup/io/npz.h"

#include <cstring>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "loup/io/atomic_file.h"
#include "loup/io/npy.h"
#include "loup/io/zip.h"
#include "loup/io/zip_writer.h"
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

std::string archive_of(const Tensors& tensors, bool compressed) {
  const test::Folder folder;
  AtomicFile file(folder / "a.npz");
  write_npz(file, tensors, compressed);
  file.commit();
  return test::read_text(folder / "a.npz");
}

/// One stored member with any name and content.
std::string zip_of(const std::string& name, std::string_view text, bool deflate = false) {
  const test::Folder folder;
  AtomicFile file(folder / "a.zip");
  zip::Writer writer(file);
  writer.add(name, {std::as_bytes(std::span(text))}, deflate);
  writer.finish();
  file.commit();
  return test::read_text(folder / "a.zip");
}

template <class T>
void patch(std::string& text, std::size_t offset, T value) {
  ASSERT_LE(offset + sizeof value, text.size());
  std::memcpy(text.data() + offset, &value, sizeof value);
}

void expect_npz_refused(const std::string& text, const std::string& rule,
                        const std::string& value) {
  expect_error<FormatError>([&] { read_npz(file_of(text)); }, "load: expected " + rule,
                            "got " + value);
}

class Npz : public testing::TestWithParam<bool> {};

TEST_P(Npz, ReadsWhatWasWritten) {
  test::Random random;
  Tensors tensors;
  for (const DType dtype : test::all_dtypes()) {
    if (dtype == DType::bf16) continue;
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{500}, Shape{3, 1, 7}}) {
      tensors.emplace(fmt::format("{}/é {}", dtype, shape),
                      test::random_tensor(random, shape, dtype));
    }
  }
  const Tensors back = read_npz(file_of(archive_of(tensors, GetParam())));
  ASSERT_EQ(back.size(), tensors.size());
  for (const auto& [name, x] : tensors) {
    EXPECT_EQ(back.at(name).dtype(), x.dtype()) << name;
    EXPECT_EQ(back.at(name).shape(), x.shape()) << name;
    EXPECT_EQ(test::bits_of(back.at(name)), test::bits_of(x)) << name;
  }
}

TEST_P(Npz, RefusesEveryTruncation) {
  const std::string whole = archive_of({{"x", arange(0, 3)}}, GetParam());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(read_npz(file_of(whole.substr(0, size))), FormatError) << size;
  }
}

TEST_P(Npz, NoticesEveryFlippedBitOfTheElements) {
  const std::string whole = archive_of({{"x", arange(0, 3)}}, GetParam());
  const zip::Member member = zip::members(std::as_bytes(std::span(whole))).front();
  for (std::size_t i = 0; i < member.packed_bytes; ++i) {
    std::string changed = whole;
    changed[member.offset + i] = static_cast<char>(changed[member.offset + i] ^ 4);
    EXPECT_THROW(read_npz(file_of(changed)), FormatError) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Members, Npz, testing::Bool(), [](const auto& which) {
  return std::string(which.param ? "Deflated" : "Stored");
});

TEST(NpzArchive, IsReadWithoutMembers) {
  EXPECT_EQ(read_npz(file_of(archive_of({}, false))).size(), 0U);
}

TEST(NpzArchive, AlignsStoredMembersSoThatTheyCanBeShared) {
  const DataPtr file = file_of(archive_of({{"a", arange(0, 3)}, {"bcd", zeros({7})}}, false));
  for (const auto& [name, x] : read_npz(file)) {
    const auto offset = x.raw_data() - static_cast<std::byte*>(file.data);
    EXPECT_GT(offset, 0);
    EXPECT_LT(offset, static_cast<std::ptrdiff_t>(file.bytes));
    EXPECT_EQ(offset % 64, 0) << name;
  }
}

TEST(NpzArchive, IsTheSameFileForTheSameTensors) {
  const Tensors tensors = {{"a", arange(0, 3)}, {"b", zeros({2, 2})}};
  EXPECT_EQ(archive_of(tensors, true), archive_of(tensors, true));
}

TEST(NpzArchive, LooksAtChecksumsOfSharedMembersOnlyIfAsked) {
  std::string text = archive_of({{"x", arange(0, 3)}}, false);
  text[zip::members(std::as_bytes(std::span(text))).front().offset + 128] = 5;
  EXPECT_EQ(test::elements<int>(read_npz(file_of(text), false).at("x")),
            (std::vector<int>{5, 1, 2}));
  try {
    read_npz(file_of(text));
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with("load: expected checksum 0x"));
    EXPECT_NE(std::string_view(error.what()).find("of member \"x.npy\", got 0x"),
              std::string_view::npos);
  }
}

TEST(NpzArchive, NamesTheMemberThatIsWrong) {
  expect_npz_refused(zip_of("x.npy", "nonsense"), "an .npy file that begins with \\x93NUMPY",
                     "another beginning; in member \"x.npy\"");
  expect_npz_refused(zip_of("data.pkl", "pickle"), "members that are .npy files", "\"data.pkl\"");
}

TEST(NpzArchive, RefusesTwoMembersOfOneName) {
  std::string text = archive_of({{"a", zeros({1})}, {"b", zeros({1})}}, false);
  for (std::size_t at = 0; (at = text.find("b.npy", at)) != std::string::npos;) text[at] = 'a';
  expect_npz_refused(text, "members with different names", "\"a.npy\" twice");
}

/// An archive of one member, with the places of its records.
class OneMember : public testing::Test {
 protected:
  void expect_refused_with(const std::string& rule, const std::string& value) {
    expect_npz_refused(text_, rule, value);
  }

  std::string text_ = archive_of({{"x", zeros({100})}}, true);
  std::size_t central_ = text_.find("PK\1\2");
  std::size_t end_ = text_.find("PK\5\6");
};

TEST_F(OneMember, IsRefusedWithoutEndRecord) {
  text_[end_] = 'Q';
  expect_refused_with("the end record of a ZIP archive",
                      fmt::format("none in {} bytes", text_.size()));
}

TEST_F(OneMember, IsRefusedAsAPartOfASplitArchive) {
  patch<std::uint16_t>(text_, end_ + 4, 1);
  expect_refused_with("one ZIP archive", "a part of a split one");
}

TEST_F(OneMember, IsRefusedWithADirectoryElsewhere) {
  patch<std::uint32_t>(text_, end_ + 16, 0);
  expect_refused_with(fmt::format("a ZIP directory up to its end record at byte {}", end_),
                      fmt::format("1 members in {} bytes at byte 0", end_ - central_));
}

TEST_F(OneMember, IsRefusedWithMoreMembersThanFit) {
  patch<std::uint16_t>(text_, end_ + 8, 60000);
  patch<std::uint16_t>(text_, end_ + 10, 60000);
  expect_refused_with(
      fmt::format("a ZIP directory up to its end record at byte {}", end_),
      fmt::format("60000 members in {} bytes at byte {}", end_ - central_, central_));
}

TEST_F(OneMember, IsRefusedWithAZip64MarkAndNoRecord) {
  patch<std::uint32_t>(text_, end_ + 16, 0xFFFFFFFF);
  expect_refused_with("a zip64 end record", "none");
}

TEST_F(OneMember, IsRefusedWhenEncrypted) {
  patch<std::uint16_t>(text_, central_ + 8, 0x801);
  expect_refused_with("member \"x.npy\" without encryption", "flags 0x801");
}

TEST_F(OneMember, IsRefusedWithAnotherCompression) {
  patch<std::uint16_t>(text_, central_ + 10, 14);
  expect_refused_with("member \"x.npy\" stored or deflated", "compression method 14");
}

TEST_F(OneMember, IsRefusedWhenItsHeaderSaysSomethingElse) {
  text_[text_.find("x.npy")] = 'y';
  expect_refused_with("a header of member \"x.npy\" like its entry", "another");
}

TEST_F(OneMember, IsRefusedOutsideOfTheArchive) {
  const std::size_t packed = zip::members(std::as_bytes(std::span(text_))).front().packed_bytes;
  patch<std::uint32_t>(text_, central_ + 42, static_cast<std::uint32_t>(central_));
  expect_refused_with(fmt::format("member \"x.npy\" of {} bytes before the ZIP directory", packed),
                      fmt::format("byte {}", central_));
}

TEST_F(OneMember, IsRefusedWhenItDeclaresMoreThanDeflateCanReach) {
  const std::size_t packed = zip::members(std::as_bytes(std::span(text_))).front().packed_bytes;
  const std::uint32_t declared = 0xFFFFFFF0;
  patch(text_, central_ + 24, declared);
  patch(text_, 22, declared);
  expect_refused_with(
      fmt::format("at most 1032 times the packed bytes, {} of member \"x.npy\"", packed),
      "4294967280");
}

TEST_F(OneMember, IsRefusedWhenItUnpacksToAnotherSize) {
  for (const std::uint32_t declared : {527U, 529U, 0U}) {
    patch(text_, central_ + 24, declared);
    patch(text_, 22, declared);
    expect_refused_with(fmt::format("{} deflated bytes of member \"x.npy\"", declared), "others");
  }
}

TEST_F(OneMember, IsRefusedWithBytesBehindItsDeflatedOnes) {
  const std::size_t packed = zip::members(std::as_bytes(std::span(text_))).front().packed_bytes;
  text_.insert(central_, "x");
  patch(text_, 18, static_cast<std::uint32_t>(packed + 1));
  patch(text_, central_ + 1 + 20, static_cast<std::uint32_t>(packed + 1));
  patch(text_, end_ + 1 + 16, static_cast<std::uint32_t>(central_ + 1));
  expect_refused_with("528 deflated bytes of member \"x.npy\"", "others");
}

TEST_F(OneMember, IsRefusedWhenStoredWithTwoSizes) {
  text_ = archive_of({{"x", zeros({100})}}, false);
  central_ = text_.find("PK\1\2");
  patch<std::uint32_t>(text_, central_ + 24, 1000);
  patch<std::uint32_t>(text_, 22, 1000);
  expect_refused_with("the stored bytes, 528 of member \"x.npy\"", "1000");
}

TEST(NpzArchive, RefusesMembersThatOverlap) {
  // The bytes of a.npy are the member b.npy, header and all, and the directory shows both.
  const std::string inner = zip_of("b.npy", "hello");
  const std::size_t inner_central = inner.find("PK\1\2");
  const std::string outer = zip_of("a.npy", inner.substr(0, inner_central));
  const auto inside =
      static_cast<std::uint32_t>(zip::members(std::as_bytes(std::span(outer))).front().offset);
  const std::size_t central = outer.rfind("PK\1\2");
  const std::size_t end = outer.rfind("PK\5\6");
  std::string entries = outer.substr(central, end - central) +
                        inner.substr(inner_central, inner.rfind("PK\5\6") - inner_central);
  patch(entries, end - central + 42, inside);
  std::string last = outer.substr(end);
  patch<std::uint16_t>(last, 8, 2);
  patch<std::uint16_t>(last, 10, 2);
  patch(last, 12, static_cast<std::uint32_t>(entries.size()));
  expect_npz_refused(outer.substr(0, central) + entries + last, "members apart from each other",
                     fmt::format("two at byte {}", inside));
}

/// The records of zip64, which are otherwise only written for large archives.
TEST(NpzArchive, ReadsZip64Records) {
  const std::string plain = archive_of({{"x", arange(0, 3)}}, false);
  const std::size_t central = plain.find("PK\1\2");
  const std::size_t end = plain.find("PK\5\6");
  std::string entry = plain.substr(central, end - central);
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, entry.data() + 24, sizeof bytes);
  patch<std::uint32_t>(entry, 20, 0xFFFFFFFF);
  patch<std::uint32_t>(entry, 24, 0xFFFFFFFF);
  patch<std::uint32_t>(entry, 42, 0xFFFFFFFF);
  patch<std::uint16_t>(entry, 30, 28);
  entry += "\1\0\x18\0"s;
  for (const std::uint64_t value : {std::uint64_t{bytes}, std::uint64_t{bytes}, std::uint64_t{0}}) {
    entry.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string record(56, '\0');
  patch<std::uint32_t>(record, 0, 0x06064b50);
  patch<std::uint64_t>(record, 4, 44);
  patch<std::uint64_t>(record, 24, 1);
  patch<std::uint64_t>(record, 32, 1);
  patch<std::uint64_t>(record, 40, entry.size());
  patch<std::uint64_t>(record, 48, central);
  std::string locator(20, '\0');
  patch<std::uint32_t>(locator, 0, 0x07064b50);
  patch<std::uint64_t>(locator, 8, central + entry.size());
  patch<std::uint32_t>(locator, 16, 1);
  std::string last = plain.substr(end);
  patch<std::uint32_t>(last, 12, 0xFFFFFFFF);
  patch<std::uint32_t>(last, 16, 0xFFFFFFFF);
  const std::string text = plain.substr(0, central) + entry + record + locator + last;
  EXPECT_EQ(test::elements<int>(read_npz(file_of(text)).at("x")), (std::vector<int>{0, 1, 2}));
  for (std::size_t i = central; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 0x80);
    try {
      read_npz(file_of(changed));
    } catch (const FormatError&) {  // refused or harmless
    }
  }
  std::string short_field = text;
  patch<std::uint16_t>(short_field, central + 46 + 5 + 2, 8);
  expect_npz_refused(short_field, "the zip64 sizes of member \"x.npy\"", "none");
}

TEST(ZipWriter, RefusesNamesThatCannotBeWritten) {
  expect_error<ValueError>([] { zip_of("\xFF", ""); }, "save: expected names in UTF-8",
                           "got other bytes");
  expect_error<ValueError>([] { zip_of(std::string(70000, 'x'), ""); },
                           "save: expected names of at most 65471 bytes", "got one of 70000");
}

}  // namespace
}  // namespace loup::io
