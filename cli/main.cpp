#include <csignal>
#include <exception>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "commands.h"
#include "loup/version.h"

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
