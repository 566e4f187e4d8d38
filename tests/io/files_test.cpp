#include "loup/io/files.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "loup/autograd/node.h"
#include "loup/io/file_info.h"
#include "loup/memory/map_flags.h"
#include "loup/ops/views.h"
#include "loup/tensor/create.h"
#include "tests/io/file_support.h"
#include "tests/support/errors.h"
#include "tests/support/tensors.h"

namespace loup::io {
namespace {

using test::expect_error;

class Files : public test::FileTest {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// A file of the format's own extension with any content.
  std::string written(const std::string& text, const std::string& name = "file") const {
    test::write_text(folder_ / name, text);
    return path(name);
  }
  void expect_refused(const std::string& text, const std::string& rule, const std::string& value) {
    const std::string file = written(text);
    for (const bool mapped : {true, false}) {
      expect_error<FormatError>([&] { load(file, {.mapped = mapped}); }, "load: expected " + rule,
                                fmt::format("got {}; in \"{}\"", value, file));
    }
  }

  test::Folder folder_;
  Tensor data_ = from_data<float>(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor mask_ = tensor({{true, false, true}, {false, false, true}});
  MaskedTensor masked_ = masked_tensor(data_, mask_);
};

void expect_equal(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.dtype(), b.dtype());
  EXPECT_EQ(a.shape(), b.shape());
  EXPECT_EQ(test::bits_of(a), test::bits_of(b));
}

void expect_equal(const MaskedTensor& a, const MaskedTensor& b) {
  expect_equal(a.get_data(), b.get_data());
  expect_equal(a.get_mask(), b.get_mask());
}

TEST_F(Files, LoadATensorAsItWasSaved) {
  for (const char* const name : {"a.npy", "a.safetensors"}) {
    for (const bool mapped : {true, false}) {
      save(path(name), data_);
      expect_equal(load(path(name), {.mapped = mapped}).tensor(), data_);
      EXPECT_EQ(folder_.entries(), 1) << "only " << name;
    }
    std::filesystem::remove(path(name));
  }
}

TEST_F(Files, LoadAMaskedTensorAsItWasSaved) {
  save(path("a.safetensors"), masked_, {.metadata = {{"by", "me"}}});
  const File file = load(path("a.safetensors"));
  expect_equal(file.masked_tensor(), masked_);
  EXPECT_EQ(file.format, FileFormat::safetensors);
  EXPECT_EQ(file.metadata, (Metadata{{"by", "me"}}));
  const std::string text = test::read_text(path("a.safetensors"));
  EXPECT_NE(text.find(R"("loup.format":"masked_tensor","loup.version":"1")"), std::string::npos);
  EXPECT_NE(text.find(R"("mask":{"dtype":"BOOL")"), std::string::npos);
}

TEST_F(Files, LoadNamedTensorsAsTheyWereSaved) {
  const Items items = {{"x", masked_}, {"y", data_}, {"y.masked", mask_}};
  for (const auto& [name, compressed] :
       {std::pair("a.safetensors", false), std::pair("a.npz", false), std::pair("a.npz", true)}) {
    save(path(name), items, {.compressed = compressed});
    const File file = load(path(name));
    const Items& back = file.items();
    ASSERT_EQ(back.size(), 3U);
    expect_equal(std::get<MaskedTensor>(back.at("x")), masked_);
    expect_equal(std::get<Tensor>(back.at("y")), data_);
    expect_equal(std::get<Tensor>(back.at("y.masked")), mask_);
  }
}

TEST_F(Files, LoadMasksAsTensorsIfAsked) {
  save(path("a.npz"), {{"x", masked_}});
  const File named = load(path("a.npz"), {.masked = false});
  expect_equal(std::get<Tensor>(named.items().at("x")), data_);
  expect_equal(std::get<Tensor>(named.items().at("x.mask")), mask_);
  save(path("a.safetensors"), masked_);
  const File single = load(path("a.safetensors"), {.masked = false});
  expect_equal(std::get<Tensor>(single.items().at("data")), data_);
  expect_equal(std::get<Tensor>(single.items().at("mask")), mask_);
}

TEST_F(Files, JoinATensorOnlyWithABoolOfItsShape) {
  save(path("a.npz"), {{"a", data_},
                       {"a.mask", data_},
                       {"b", data_},
                       {"b.mask", zeros({3}, DType::boolean)},
                       {"c.mask", mask_},
                       {"d", mask_},
                       {"d.mask", mask_},
                       {"d.mask.mask", mask_}});
  const File file = load(path("a.npz"));
  const Items& items = file.items();
  EXPECT_EQ(items.size(), 7U);
  for (const char* const name : {"a", "a.mask", "b", "b.mask", "c.mask", "d.mask.mask"}) {
    EXPECT_TRUE(std::holds_alternative<Tensor>(items.at(name))) << name;
  }
  EXPECT_TRUE(std::holds_alternative<MaskedTensor>(items.at("d")));
}

TEST_F(Files, ShareTheirPagesCopyOnWrite) {
  save(path("a.safetensors"), {{"x", masked_}, {"y", data_}});
  const std::string before = test::read_text(path("a.safetensors"));
  const File file = load(path("a.safetensors"));
  const Tensor y = std::get<Tensor>(file.items().at("y"));
  ASSERT_NE(y.storage().mapping(), nullptr);
  EXPECT_EQ(y.storage().mapping()->path, path("a.safetensors"));
  EXPECT_FALSE(y.storage().mapping()->is_shared);
  y.set({0, 0}, 100);
  EXPECT_EQ(y.at<float>({0, 0}), 100);
  EXPECT_EQ(test::read_text(path("a.safetensors")), before);
}

TEST_F(Files, AreReadIntoMemoryIfAsked) {
  for (const char* const name : {"a.npy", "a.safetensors"}) {
    save(path(name), data_);
    EXPECT_EQ(load(path(name), {.mapped = false}).tensor().storage().mapping(), nullptr);
  }
}

TEST_F(Files, StayAsTheyWereForThoseWhoMappedThem) {
  for (const char* const name : {"a.npy", "a.safetensors"}) {
    save(path(name), data_);
    const File before = load(path(name));
    save(path(name), zeros({1000}));
    EXPECT_EQ(load(path(name)).tensor().size(), 1000);
    expect_equal(before.tensor(), data_);
  }
}

TEST_F(Files, CanBeReplacedByWhatIsMappedFromThem) {
  save(path("a.npy"), data_);
  save(path("a.npy"), ops::transpose(load(path("a.npy")).tensor(), 0, 1));
  expect_equal(load(path("a.npy")).tensor(), ops::transpose(data_, 0, 1));
}

TEST_F(Files, HoldNoGradientRecord) {
  Tensor x = data_;
  autograd::set_requires_grad(x, true);
  save(path("a.npy"), x);
  EXPECT_FALSE(load(path("a.npy")).tensor().requires_grad());
}

TEST_F(Files, AreKnownByTheirContent) {
  save(path("a.npy"), data_);
  std::filesystem::rename(path("a.npy"), path("a.safetensors"));
  EXPECT_EQ(load(path("a.safetensors")).format, FileFormat::npy);
  save(path("b.SafeTensors"), data_);
  EXPECT_EQ(load(path("b.SafeTensors")).format, FileFormat::safetensors);
}

TEST_F(Files, OfOtherFormatsAreRefused) {
  const std::string rule = "an .npy, .npz or .safetensors file";
  expect_refused("", rule, "an empty file");
  expect_refused("{\"a\": 1}", rule, "one that begins with 7b 22 61 22 3a 20 31 7d");
  expect_refused("abc", rule, "one that begins with 61 62 63");
}

TEST_F(Files, NameTheirPathWhenTheyAreBroken) {
  expect_refused("\x93NUMPY", ".npy version 1.0, 2.0 or 3.0", "0.0");
  expect_refused("PK\3\4", "the end record of a ZIP archive", "none in 4 bytes");
  expect_refused(std::string("\2\0\0\0\0\0\0\0{}x", 11), "0 bytes of tensors behind the header",
                 "1");
}

TEST_F(Files, OfOursAreRefusedWhenTheyDoNotHoldWhatTheySay) {
  const auto refused = [this](const Items& items, const std::string& format,
                              const std::string& version, const std::string& rule,
                              const std::string& value) {
    std::map<std::string, Tensor, std::less<>> tensors;
    for (const auto& [name, item] : items) tensors.emplace(name, std::get<Tensor>(item));
    const SafetensorsImage image =
        safetensors_image(tensors, {{"loup.format", format}, {"loup.version", version}});
    std::string text = image.header;
    for (const Tensor& x : image.elements) text += test::text_of(bytes_of(x));
    expect_refused(text, rule, value);
  };
  const std::string rule = "the tensors of loup.format \"masked_tensor\"";
  refused({{"data", data_}}, "masked_tensor", "1", rule, "others");
  refused({{"data", data_}, {"mask", data_}}, "masked_tensor", "1", rule, "others");
  refused({{"data", data_}, {"mask", mask_}, {"x", mask_}}, "masked_tensor", "1", rule, "others");
  refused({{"x", data_}}, "tensor", "1", "the tensors of loup.format \"tensor\"", "others");
  refused({{"data", data_}}, "tensor", "2", "loup.version 1", "\"2\"");
  refused({{"data", data_}}, "quilt", "1", "the tensors of loup.format \"quilt\"", "others");
}

TEST_F(Files, SayWhenTheyCannotBeRead) {
  for (const bool mapped : {true, false}) {
    try {
      load(path("none"), {.mapped = mapped});
      FAIL();
    } catch (const IoError& error) {
      EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
      EXPECT_EQ(error.path(), path("none"));
    }
    EXPECT_THROW(load(folder_.path(), {.mapped = mapped}), IoError);
    EXPECT_THROW(load("/dev/zero", {.mapped = mapped}), IoError);
  }
}

TEST_F(Files, RefuseWhatTheirFormatCannotHold) {
  const auto refused = [this](const std::string& name, const Content& content,
                              const SaveOptions& options, const std::string& rule,
                              const std::string& value) {
    expect_error<ValueError>(
        [&] { std::visit([&](const auto& x) { save(path(name), x, options); }, content); },
        "save: expected " + rule, "got " + value);
    EXPECT_EQ(folder_.entries(), 0);
  };
  refused("a.npy", masked_, {}, "a Tensor for .npy", "a MaskedTensor");
  refused("a.npy", Items{}, {}, "a Tensor for .npy", "named tensors");
  refused("a.npz", data_, {}, "named tensors for .npz", "a Tensor");
  refused("a.npz", masked_, {}, "named tensors for .npz", "a MaskedTensor");
  refused("a.pt", data_, {}, "a path that ends in .npy, .npz or .safetensors",
          "\"" + path("a.pt") + "\"");
  refused("a.npy", data_, {.compressed = true}, ".npz for compressed arrays", ".npy");
  refused("a.safetensors", data_, {.compressed = true}, ".npz for compressed arrays",
          ".safetensors");
  refused("a.npz", Items{}, {.metadata = {{"k", "v"}}}, ".safetensors for metadata", ".npz");
  refused("a.safetensors", data_, {.metadata = {{"loup.format", "v"}}},
          "keys of metadata that do not begin with loup.", "\"loup.format\"");
  refused("a.npz", Items{{"x", masked_}, {"x.mask", mask_}}, {}, "one tensor of each name",
          "\"x.mask\" twice");
  expect_error<DTypeError>([&] { save(path("a.npz"), {{"x", zeros({1}, DType::bf16)}}); },
                           "save: expected a dtype that NumPy has", "got bfloat16");
  EXPECT_EQ(folder_.entries(), 0);
}

TEST_F(Files, SayWhatTheyHoldWhenAskedForSomethingElse) {
  save(path("a.npy"), data_);
  const File file = load(path("a.npy"));
  expect_error<ValueError>([&] { file.masked_tensor(); }, "load: expected a file of a MaskedTensor",
                           "got a Tensor");
  expect_error<ValueError>([&] { file.items(); }, "load: expected a file of named tensors",
                           "got a Tensor");
}

TEST_F(Files, AreDescribed) {
  save(path("a.safetensors"), {{"x", masked_}, {"y", zeros({3}, DType::f16)}},
       {.metadata = {{"k", "v"}}});
  const FileInfo info = file_info(path("a.safetensors"));
  EXPECT_EQ(info.bytes, std::filesystem::file_size(path("a.safetensors")));
  EXPECT_EQ(info.metadata, (Metadata{{"k", "v"}}));
  ASSERT_EQ(info.items.size(), 2U);
  EXPECT_EQ(info.items[0].name, "x");
  EXPECT_EQ(info.items[0].valid, 3);
  EXPECT_EQ(info.items[0].bytes, 30);
  EXPECT_EQ(info.items[1].dtype, DType::f16);
  EXPECT_FALSE(info.items[1].valid);
  save(path("b.npy"), data_);
  EXPECT_FALSE(file_info(path("b.npy")).items.at(0).name);
}

}  // namespace
}  // namespace loup::io
