#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands.h"
#include "loup/version.h"
#include "shm.h"

namespace {

constexpr int work_failed = 1;
constexpr int bad_usage = 2;

/// `--json` and `--markdown` of one subcommand.
struct FormatOptions {
  bool json = false;
  bool markdown = false;

  loup::cli::Format format() const {
    if (json) return loup::cli::Format::json;
    return markdown ? loup::cli::Format::markdown : loup::cli::Format::text;
  }
};

int finish_output() {
  if (std::cout.flush()) return 0;
  std::cerr << "loup: could not write the output\n";
  return work_failed;
}

/// `loup shm` and its subcommands.
class ShmCommand {
 public:
  explicit ShmCommand(CLI::App& app)
      : command_(app.add_subcommand("shm", "List, show and remove segments of shared memory")),
        ls_(add("ls", "List the segments")),
        info_(add("info", "Show segments: header, attachments, processes")),
        rm_(add("rm", "Remove names; those in use only with --force")),
        sweep_(add("sweep", "Remove what killed processes left behind")) {
    command_->require_subcommand(1);
    for (CLI::App* with_ns : {ls_, sweep_}) {
      with_ns->add_option("--ns", ns_, "Only this namespace");
    }
    for (CLI::App* with_names : {info_, rm_}) {
      with_names->add_option("NAME", names_, "Names of segments")->required();
      with_names->add_option("--ns", ns_, "The namespace of the names");
    }
    rm_->add_flag("--force", force_, "Also when in use; the users keep their memory");
    sweep_->add_flag("--dry-run", dry_run_, "Only tell");
  }

  bool is_parsed() const { return command_->parsed(); }

  int run() const {
    const loup::cli::ShmOutput output = result();
    std::cout << output.text;
    std::cerr << output.errors;
    const int finished = finish_output();
    return output.errors.empty() ? finished : work_failed;
  }

 private:
  CLI::App* add(const char* name, const char* description) {
    CLI::App* const command = command_->add_subcommand(name, description);
    command->add_flag("--json", options_.json, "Print JSON");
    return command;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> result = names_;
    for (std::string& name : result) {
      if (!ns_.empty() && !name.starts_with("lp.")) name = fmt::format("lp.{}.{}", ns_, name);
    }
    return result;
  }

  loup::cli::ShmOutput result() const {
    const loup::cli::Format format = options_.format();
    if (ls_->parsed()) return loup::cli::shm_list(ns_, format);
    if (info_->parsed()) return loup::cli::shm_info(names(), format);
    if (rm_->parsed()) return loup::cli::shm_remove(names(), force_, format);
    return loup::cli::shm_sweep(ns_, dry_run_, format);
  }

  FormatOptions options_;
  std::string ns_;
  std::vector<std::string> names_;
  bool force_ = false;
  bool dry_run_ = false;
  CLI::App* command_;
  CLI::App* ls_;
  CLI::App* info_;
  CLI::App* rm_;
  CLI::App* sweep_;
};

int run(int argc, char** argv) {
  CLI::App app("Masked tensors on the command line. Try: loup info");
  app.set_version_flag("--version", std::string("loup ") + loup::version);
  app.require_subcommand(1);

  FormatOptions info_options;
  std::string file;
  CLI::App* info = app.add_subcommand(
      "info",
      "Show what is in a file, or instruction sets, threads and build. Try: loup info x.npy");
  info->add_option("FILE", file, "An .npy, .npz or .safetensors file");
  info->add_flag("--json", info_options.json, "Print JSON");

  FormatOptions ops_options;
  CLI::App* ops = app.add_subcommand("ops", "List the masked operators");
  CLI::Option* json = ops->add_flag("--json", ops_options.json, "Print JSON");
  ops->add_flag("--markdown", ops_options.markdown, "Print the table of docs/ops.md")
      ->excludes(json);

  const ShmCommand shm(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? finish_output() : bad_usage;
  }
  if (info->parsed()) {
    const bool has_file = info->count("FILE") != 0;
    std::cout << (has_file ? loup::cli::file_info(file, info_options.format())
                           : loup::cli::info(info_options.format()));
  }
  if (ops->parsed()) std::cout << loup::cli::ops(ops_options.format());
  if (shm.is_parsed()) return shm.run();
  return finish_output();
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is a failed write, not a crash
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "loup: " << error.what() << '\n';
    return work_failed;
  }
}
