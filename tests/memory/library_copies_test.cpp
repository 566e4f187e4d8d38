#include <dlfcn.h>

#include <gtest/gtest.h>

#include "loup/memory/map_allocator.h"
#include "loup/memory/storage.h"
#include "tests/memory/faults.h"
#include "tests/support/sanitizer.h"

namespace loup::test {
namespace {

using Map = Storage (*)(const std::string&, MapFlags, Size);

TEST_F(MapFaults, T39_EndingTheProgramUnmapsInAnyOrder) {
  EXPECT_FINE(run_in_child([&]() -> std::string {
    static Storage file;
    static Storage segment;
    static const auto pool = std::make_unique<Storage>(Storage::allocate(100'000));
    file = Storage::map(folder.file("a", "hello"), MapFlags::shared);
    segment = Storage::adopt(RefcountedMapAllocator::makeDataPtr(
        "static", MapFlags::shared_mem | MapFlags::exclusive, 100));
    exit(0);  // NOLINT(concurrency-mt-unsafe): destructors of static objects are the test
  }));
}

TEST_F(MapFaults, T39_MappingsOfAnotherCopyOfTheLibraryStillAnswer) {
  if (under_sanitizer) GTEST_SKIP() << "the sanitizer refuses two copies of globals";
  const std::string path = folder.file("a", "hello");
  EXPECT_FINE(run_in_child([&]() -> std::string {
    std::vector<Storage> storages;
    for (const char* name : {"first.so", "second.so"}) {
      std::filesystem::copy_file(LOUP_LIBRARY, folder / name);
      void* const library = dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) return std::string("cannot load: ") + dlerror();
      const auto map = reinterpret_cast<Map>(dlsym(
          library,
          "_ZN4loup7Storage3mapERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEENS_8MapFlagsE"
          "St8optionalImE"));
      if (map == nullptr) return std::string("cannot find: ") + dlerror();
      storages.push_back(map(path, MapFlags::none, {}));
    }
    storages.push_back(Storage::map(path, MapFlags::none));
    for (const Storage& storage : storages) {
      CHILD_CHECK(storage.mapping() != nullptr);
      CHILD_CHECK(storage.mapping()->path == path);
      CHILD_CHECK(!storage.is_shared());
    }
    // Only our own copy's objects are ours to look into.
    const auto allocator_of = [](const Storage& storage) {
      return MapAllocator::fromDataPtr({storage.data(), storage.bytes(), storage.owner(), true});
    };
    CHILD_CHECK(allocator_of(storages[0]) == nullptr);
    CHILD_CHECK(allocator_of(storages[1]) == nullptr);
    CHILD_CHECK(allocator_of(storages[2]) != nullptr);
    return {};
  }));
}

}  // namespace
}  // namespace loup::test
