// The options of modelling: from the words on the command line to the GPUs that are modelled.
#include "driver/options.h"
#include "driver/stages/simulate.h"
#include "test/catch.h"

using namespace warplens;

namespace {

/// Parses the arguments as `warplens model` does; throws CLI11's error for a wrong one.
driver::ModelOptions parse_model_options(std::vector<std::string> arguments) {
  CLI::App app;
  driver::ModelOptions options;
  driver::add_model_options(app, options);
  std::ranges::reverse(arguments); // CLI11 takes the last one first
  app.parse(arguments);
  return options;
}

std::vector<model::IssuePolicy> policies(const std::vector<std::string>& arguments) {
  const auto gpus = driver::load_gpus(parse_model_options(arguments));
  REQUIRE(gpus);
  std::vector<model::IssuePolicy> policies;
  for (const model::Gpu& gpu : *gpus)
    policies.push_back(gpu.issue.policy);
  return policies;
}

} // namespace

TEST_CASE("--schedule is each GPU file's policy, one policy for all GPUs, or the paper's without a clock") {
  using enum model::IssuePolicy;
  const std::vector<std::string> gpus{"--gpu", "c2050,a100"};
  const auto with = [&](const std::string& word) {
    std::vector<std::string> arguments = gpus;
    arguments.insert(arguments.end(), {"--schedule", word});
    return arguments;
  };
  const std::vector<model::IssuePolicy> of_files{greedy_then_oldest, loose_round_robin};
  CHECK(policies(gpus) == of_files);
  CHECK_FALSE(parse_model_options(gpus).without_clock);

  for (const std::string_view word : names_of<model::IssuePolicy>) {
    const model::IssuePolicy policy = *value_named<model::IssuePolicy>(word);
    CHECK(policies(with(std::string(word))) == std::vector{policy, policy});
    CHECK_FALSE(parse_model_options(with(std::string(word))).without_clock);
  }

  CHECK(policies(with("paper")) == of_files);
  CHECK(parse_model_options(with("paper")).without_clock);
}

TEST_CASE("A wrong word of --schedule lists the right ones") {
  try {
    parse_model_options({"--schedule", "weighted_round_robin"});
    FAIL("the word was taken");
  } catch (const CLI::ValidationError& error) {
    CHECK(std::string(error.what()) ==
          "--schedule: weighted_round_robin not in {paper,loose_round_robin,greedy_then_oldest,"
          "greedy_then_youngest,greedy_then_least_recent,two_level_oldest,two_level_least_recent,"
          "greedy_two_level_least_recent}");
  }
}

TEST_CASE("--timeline is refused for trials without a clock") {
  CHECK(parse_model_options({"--timeline", "--schedule", "loose_round_robin"}).timeline);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--timeline", "--schedule", "paper"}, {"--schedule", "paper", "--timeline"}})
    try {
      parse_model_options(arguments);
      FAIL("the options were taken");
    } catch (const CLI::ValidationError& error) {
      CHECK(std::string(error.what()) == "--timeline: trials have no clock with --schedule paper");
    }
}

TEST_CASE("--placement and --start are refused for trials on a clock") {
  CHECK(parse_model_options({"--schedule", "paper", "--placement", "random"}).placement == "random");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--placement", "random"}, {"--start", "random_point"}})
    CHECK_THROWS_WITH(parse_model_options(arguments), arguments.front() +
                                                          ": on a clock blocks are dealt on demand: "
                                                          "--schedule paper has the choice");
}

TEST_CASE("The help of --schedule describes each word") {
  CLI::App app;
  driver::ModelOptions options;
  driver::add_model_options(app, options);
  const std::string help = app.get_option("--schedule")->get_description();
  CHECK(help.find("\npaper: ") != std::string::npos);
  for (const std::string_view word : names_of<model::IssuePolicy>) {
    const std::size_t at = help.find("\n" + std::string(word) + ": ");
    REQUIRE(at != std::string::npos);
    CHECK(help.substr(at + word.size() + 3, 1) != "\n");
  }
}

TEST_CASE("--placement and --start replace what each GPU file says") {
  const auto gpus = driver::load_gpus(parse_model_options(
      {"--gpu", "c2050,a100", "--schedule", "paper", "--placement", "random", "--start", "random_point"}));
  REQUIRE(gpus);
  for (const model::Gpu& gpu : *gpus) {
    CHECK(gpu.schedule.placement == model::BlockPlacement::random);
    CHECK(gpu.schedule.start == model::BlockStart::random_point);
  }
  CHECK_THROWS_AS(parse_model_options({"--start", "late"}), CLI::ValidationError);
}
