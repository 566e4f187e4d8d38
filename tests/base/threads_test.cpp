#include "loup/base/threads.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace loup::detail {
namespace {

using test::expect_error;

class CgroupCpus : public testing::Test {
 protected:
  CgroupCpus() {
    std::string name = (std::filesystem::temp_directory_path() / "loup_cgroup_XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~CgroupCpus() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }

  std::filesystem::path root_;
};

TEST_F(CgroupCpus, AreUnknownWithoutFiles) {
  EXPECT_EQ(cgroup_cpus(root_, "0::/\n"), std::nullopt);
  EXPECT_EQ(cgroup_cpus(root_, ""), std::nullopt);
}

TEST_F(CgroupCpus, OfVersion2AreQuotaByPeriodRoundedUp) {
  write("job/cpu.max", "150000 100000");
  EXPECT_EQ(cgroup_cpus(root_, "0::/job\n"), 2);
}

TEST_F(CgroupCpus, OfVersion2AreAtLeastOne) {
  write("job/cpu.max", "1000 100000");
  EXPECT_EQ(cgroup_cpus(root_, "0::/job\n"), 1);
}

TEST_F(CgroupCpus, OfVersion2WithoutALimitAreUnknown) {
  write("job/cpu.max", "max 100000");
  EXPECT_EQ(cgroup_cpus(root_, "0::/job\n"), std::nullopt);
}

TEST_F(CgroupCpus, OfAnEnclosingGroupBindToo) {
  write("cpu.max", "400000 100000");
  write("outer/cpu.max", "300000 100000");
  write("outer/inner/cpu.max", "max 100000");
  EXPECT_EQ(cgroup_cpus(root_, "0::/outer/inner\n"), 3);
}

TEST_F(CgroupCpus, InsideOfANamespaceAreReadFromTheRoot) {
  write("cpu.max", "200000 100000");
  EXPECT_EQ(cgroup_cpus(root_, "0::/\n"), 2);
}

TEST_F(CgroupCpus, OfVersion1AreReadFromTheCpuController) {
  write("cpu/docker/abc/cpu.cfs_quota_us", "250000");
  write("cpu/docker/abc/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cgroup_cpus(root_, "7:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n"), 3);
}

TEST_F(CgroupCpus, OfVersion1WithoutALimitAreUnknown) {
  write("cpu/job/cpu.cfs_quota_us", "-1");
  write("cpu/job/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cgroup_cpus(root_, "4:cpu:/job\n"), std::nullopt);
}

TEST_F(CgroupCpus, OfSeveralHierarchiesAreTheSmallest) {
  write("cpu/job/cpu.cfs_quota_us", "300000");
  write("cpu/job/cpu.cfs_period_us", "100000");
  write("job/cpu.max", "500000 100000");
  EXPECT_EQ(cgroup_cpus(root_, "4:cpu:/job\n0::/job\n"), 3);
}

TEST_F(CgroupCpus, IgnoreNonsense) {
  write("job/cpu.max", "fast please");
  EXPECT_EQ(cgroup_cpus(root_, "0::/job\n"), std::nullopt);
  EXPECT_EQ(cgroup_cpus(root_, "no colons here\n:\n"), std::nullopt);
}

/// Sets an environment variable for one test.
class Variable {
 public:
  Variable(const char* variable, const char* value) : name_(variable) {
    const char* const text = std::getenv(variable);
    if (text != nullptr) previous_ = text;
    if (value != nullptr) {
      setenv(variable, value, 1);
    } else {
      unsetenv(variable);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (previous_) {
      setenv(name_, previous_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> previous_;
};

TEST(DefaultNumThreads, FollowsTheEnvironment) {
  const Variable threads("LOUP_NUM_THREADS", "13");
  EXPECT_EQ(default_num_threads(), 13);
}

TEST(DefaultNumThreads, RefusesTextThatIsNotANumber) {
  for (const char* const text : {"many", "", "3x", " 3", "1.5"}) {
    const Variable threads("LOUP_NUM_THREADS", text);
    expect_error<ValueError>([] { default_num_threads(); },
                             "LOUP_NUM_THREADS: expected a number of threads from 1 to 1024",
                             std::string("got '") + text + "'");
  }
}

TEST(DefaultNumThreads, RefusesANumberOutOfRange) {
  const Variable threads("LOUP_NUM_THREADS", "0");
  expect_error<ValueError>([] { default_num_threads(); },
                           "LOUP_NUM_THREADS: expected a number of threads from 1 to 1024",
                           "got 0");
}

TEST(DefaultNumThreads, IsSharedAmongTheRanksOfThisHost) {
  const Variable threads("LOUP_NUM_THREADS", nullptr);
  const Variable one("OMPI_COMM_WORLD_LOCAL_SIZE", "1");
  const int alone = default_num_threads();
  EXPECT_GE(alone, 1);
  const Variable many("OMPI_COMM_WORLD_LOCAL_SIZE", "1000");
  EXPECT_EQ(default_num_threads(), std::max(1, alone / 1000));
}

TEST(CheckedNumThreads, NamesTheOperation) {
  EXPECT_EQ(checked_num_threads("op", 1024), 1024);
  expect_error<ValueError>([] { checked_num_threads("op", -1); },
                           "op: expected a number of threads from 1 to 1024", "got -1");
}

/// On a thread of its own, which may only run on the given CPUs.
template <class Body>
void on_cpus(const cpu_set_t& cpus, Body body) {
  std::thread([&] {
    ASSERT_EQ(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
    body();
    cpu_set_t after;
    ASSERT_EQ(sched_getaffinity(0, sizeof(after), &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&after, &cpus));
  }).join();
}

TEST(LeaveCpu, StaysWhereThereIsNoOther) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  on_cpus(one, [] {
    const int before = sched_getcpu();
    leave_cpu(before);
    EXPECT_EQ(sched_getcpu(), before);
  });
}

TEST(LeaveCpu, MovesAndMayComeBack) {
  if (usable_cpus() < 2) GTEST_SKIP() << "there is no other CPU";
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  bool has_moved = false;
  // The system may move it back between two lines: then again.
  for (int i = 0; i < 100 && !has_moved; ++i) {
    on_cpus(all, [&] {
      const int before = sched_getcpu();
      leave_cpu(before);
      has_moved = sched_getcpu() != before;
    });
  }
  EXPECT_TRUE(has_moved);
  on_cpus(all, [] { leave_cpu(-1); });
}

}  // namespace
}  // namespace loup::detail
