#include "loup/io/json.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace loup::io::json {
namespace {

using test::expect_error;

std::string string_in(std::string_view text) {
  Reader reader(text);
  std::string result = reader.string();
  reader.end();
  return result;
}

std::int64_t natural_in(std::string_view text) {
  Reader reader(text);
  const std::int64_t result = reader.natural();
  reader.end();
  return result;
}

void expect_refused_string(std::string_view text, const std::string& rule,
                           const std::string& value) {
  expect_error<FormatError>([&] { string_in(text); }, "load: expected " + rule, "got " + value);
}

TEST(JsonReader, ReadsObjectsArraysStringsNumbersAndNull) {
  Reader reader(R"( { "a" : [ 1 , 20 ] , "b" : null, "c":{}, "d":[] } )");
  std::string key;
  EXPECT_EQ(reader.peek(), Kind::object);
  reader.begin_object();
  ASSERT_TRUE(reader.next_key(key));
  EXPECT_EQ(key, "a");
  EXPECT_EQ(reader.peek(), Kind::array);
  reader.begin_array();
  ASSERT_TRUE(reader.next_element());
  EXPECT_EQ(reader.peek(), Kind::natural);
  EXPECT_EQ(reader.natural(), 1);
  ASSERT_TRUE(reader.next_element());
  EXPECT_EQ(reader.natural(), 20);
  EXPECT_FALSE(reader.next_element());
  ASSERT_TRUE(reader.next_key(key));
  EXPECT_EQ(reader.peek(), Kind::null);
  reader.null();
  ASSERT_TRUE(reader.next_key(key));
  reader.begin_object();
  EXPECT_FALSE(reader.next_key(key));
  ASSERT_TRUE(reader.next_key(key));
  EXPECT_EQ(key, "d");
  reader.begin_array();
  EXPECT_FALSE(reader.next_element());
  EXPECT_FALSE(reader.next_key(key));
  reader.end();
}

TEST(JsonReader, ReadsEveryEscape) {
  EXPECT_EQ(string_in(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(string_in(R"("\u0041\u00e9\u20AC\ud83d\uDE00")"), "Aé€😀");
  EXPECT_EQ(string_in(R"("\u0000")"), std::string(1, '\0'));
}

TEST(JsonReader, RefusesBrokenEscapes) {
  expect_refused_string(R"("\x")", "an escaped character at byte 2 of the JSON", "'x'");
  expect_refused_string(R"("\u00g0")", "a hexadecimal digit at byte 5 of the JSON", "'g'");
  expect_refused_string(R"("\udc00")", "a whole UTF-16 pair at byte 7 of the JSON", "'\"'");
  expect_refused_string(R"("\ud800")", "the second half of a UTF-16 pair at byte 7 of the JSON",
                        "'\"'");
  expect_refused_string(R"("\ud800\u0041")",
                        "the second half of a UTF-16 pair at byte 13 of the JSON", "'\"'");
  expect_refused_string(R"("\u12)", "a hexadecimal digit at byte 5 of the JSON", "the end");
}

TEST(JsonReader, RefusesControlCharactersAndOpenStrings) {
  expect_refused_string("\"a\nb\"", "a character of a string at byte 2 of the JSON", "byte 0x0a");
  expect_refused_string("\"a", "a character of a string at byte 2 of the JSON", "the end");
  expect_refused_string("a", "a string at byte 0 of the JSON", "'a'");
}

TEST(JsonReader, RefusesNumbersThatAreNotNatural) {
  EXPECT_EQ(natural_in("0"), 0);
  EXPECT_EQ(natural_in("9223372036854775807"), INT64_MAX);
  const auto refused = [](std::string_view text, const std::string& rule, const std::string& got) {
    expect_error<FormatError>([&] { natural_in(text); }, "load: expected " + rule, "got " + got);
  };
  refused("9223372036854775808", "a number of at most 63 bits at byte 18 of the JSON", "'8'");
  refused("01", "a number without leading zeros at byte 0 of the JSON", "'0'");
  refused("-1", "a natural number at byte 0 of the JSON", "'-'");
  refused("1.5", "the end at byte 1 of the JSON", "'.'");
  refused("1e3", "the end at byte 1 of the JSON", "'e'");
}

TEST(JsonReader, RefusesCommasThatAreMissingOrTooMany) {
  const auto read = [](std::string_view text) {
    Reader reader(text);
    reader.begin_array();
    while (reader.next_element()) reader.natural();
  };
  expect_error<FormatError>([&] { read("[1 2]"); },
                            "load: expected ',' or ']' at byte 3 of the JSON", "got '2'");
  expect_error<FormatError>([&] { read("[1,]"); },
                            "load: expected a natural number at byte 3 of the JSON", "got ']'");
  expect_error<FormatError>([&] { read("[,1]"); },
                            "load: expected a natural number at byte 1 of the JSON", "got ','");
  expect_error<FormatError>([&] { read("[1"); }, "load: expected ',' or ']' at byte 2 of the JSON",
                            "got the end");
  expect_error<FormatError>([&] { read("{"); }, "load: expected an array at byte 0 of the JSON",
                            "got '{'");
}

class NotUtf8 : public testing::TestWithParam<const char*> {};

TEST_P(NotUtf8, IsRefused) {
  EXPECT_FALSE(is_utf8(GetParam()));
  expect_error<FormatError>([] { Reader reader(GetParam()); }, "load: expected JSON in UTF-8",
                            "got other bytes");
}

INSTANTIATE_TEST_SUITE_P(Bytes, NotUtf8,
                         testing::Values("\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xE0\x80\x80",
                                         "\xED\xA0\x80", "\xE2\x82", "\xF0\x80\x80\x80",
                                         "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "a\xFEz"));

TEST(JsonUtf8, AcceptsTheEndsOfEveryLength) {
  EXPECT_TRUE(
      is_utf8("\x01\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF"
              "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"));
  EXPECT_TRUE(is_utf8({"\0", 1}));
}

TEST(JsonQuote, ReadsBackAsTheSameText) {
  std::string text = "é€😀\"\\/";
  for (char c = 0; c < 127; ++c) text += c;
  text += '\x7F';
  EXPECT_EQ(string_in(quote(text)), text);
  EXPECT_EQ(quote("a\"\n\x7F"), R"("a\"\u000a\u007f")");
}

}  // namespace
}  // namespace loup::io::json
