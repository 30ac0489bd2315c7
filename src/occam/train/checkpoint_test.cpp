#include "occam/train/checkpoint.hpp"

#include <random>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
#include "occam/io/safetensors.hpp"
#include "occam/io/test_support.hpp"
#include "occam/networks/test_support.hpp"

namespace occam {
namespace {

using nlohmann::json;
using testing_support::sealed;
using testing_support::with_element;
using testing_support::with_json;
using testing_support::with_metadata;
using testing_support::without_tensor;

constexpr std::int64_t kModels = 3;

class Checkpoint : public ::testing::Test {
 protected:
  Checkpoint() {
    layout_.add("a", {2, 3}, Init::glorot);
    layout_.add("b", {1}, Init::zeros);
    TrainingProgress p;
    p.step = 5;
    p.total = 20;
    p.best_loss = 0.5;
    p.best_step = 4;
    p.history = json::array({json::array({4, 0.5})});
    p.failed = {0, 2, 0};
    p.best = {1, 2, 3, 4, 5, 6, 7};
    state_ = fresh_state(p.best, Optimiser::adam);
    write_checkpoint(path_, identity_, p, state_, layout_);
    good_ = read_safetensors(path_);
  }

  TrainingProgress read() { return read_checkpoint(path_, identity_, layout_, kModels, state_); }

  // "accepted", or what was said of such a file.
  std::string refusal(const Safetensors& contents) {
    write_safetensors(path_, contents);
    const auto error = testing_support::error_of([&] { read(); });
    if (!error) return "accepted";
    EXPECT_EQ(error->kind(), ErrorKind::bad_config) << error->what();
    EXPECT_TRUE(std::string(error->what()).starts_with(path_)) << error->what();
    EXPECT_NE(std::string(error->what()).find("remove it to begin anew"), std::string::npos);
    return error->what();
  }

  testing_support::TemporaryFolder folder_;
  const std::string path_ = folder_ / "c";
  const json identity_ = {{"seed", 1}, {"problem", "x"}};
  ParameterLayout layout_;
  LearningState state_;
  Safetensors good_;
};

TEST_F(Checkpoint, ComesBackAsItWas) {
  const TrainingProgress p = read();
  EXPECT_EQ(p.step, 5);
  EXPECT_EQ(p.failed, (std::vector<std::int64_t>{0, 2, 0}));
  EXPECT_EQ(p.best, state_.weights);
  EXPECT_EQ(p.history, json::array({json::array({4, 0.5})}));
}

// A checkpoint with any bit flipped must not be gone on from: the run would end in other bytes.
TEST_F(Checkpoint, AnyFlippedBitIsNoticed) {
  const std::string bytes = read_file(path_);
  for (std::size_t at = 0; at < bytes.size(); at += 5) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    write_file_atomic(path_, damaged);
    const auto error = testing_support::error_of([&] { read(); });
    // A flip in the header may change the spaces that fill it up, and nothing else.
    if (!error) {
      EXPECT_EQ(read_safetensors(path_), good_) << at;
    } else {
      EXPECT_EQ(error->kind(), ErrorKind::bad_config) << error->what();
    }
  }
}

TEST_F(Checkpoint, OtherVersionsAndOtherRunsAreRefused) {
  EXPECT_EQ(refusal(good_), "accepted");
  EXPECT_NE(refusal(with_metadata(good_, "format_version", "99")).find("format version is '99'"),
            std::string::npos);
  EXPECT_NE(refusal(with_metadata(good_, "format_version", "1")).find("format version is '1'"),
            std::string::npos);
  EXPECT_NE(refusal(with_metadata(good_, "program", "occam 77")).find("made by 'occam 77'"),
            std::string::npos);
  EXPECT_NE(refusal(with_metadata(good_, "format", "other")).find("not a checkpoint"), std::string::npos);
  Safetensors unsealed = good_;
  unsealed.metadata.erase("checksum");
  EXPECT_NE(refusal(unsealed).find("checksum"), std::string::npos);
  EXPECT_NE(refusal(with_json(good_, "identity", "/seed", 2)).find("another seed"), std::string::npos);
  EXPECT_NE(refusal(with_metadata(good_, "identity", "3")), "accepted");
}

TEST_F(Checkpoint, ImpossibleContentsAreRefused) {
  for (const auto& [pointer, value] :
       std::vector<std::pair<std::string, json>>{{"/failed", {0, 0, 0, 1}},  // crashed
                                                 {"/failed", {0, 0}},
                                                 {"/failed", {0, 0, -1}},
                                                 {"/failed", "none"},
                                                 {"/step", -1},
                                                 {"/step", 21},
                                                 {"/step", "five"},
                                                 {"/step", 5.5},
                                                 {"/attempt", 1e300},
                                                 {"/failed", {0, 0, 0.5}},
                                                 {"/total", -1},
                                                 {"/attempt", -1},
                                                 {"/stale", -5},
                                                 {"/best_step", 100},
                                                 {"/loss_count", -1},
                                                 {"/loss_sum", nullptr},
                                                 {"/seconds", -1},
                                                 {"/history", 3},
                                                 {"/history", {{4}}},
                                                 {"", json::array()}}) {
    EXPECT_NE(refusal(with_json(good_, "progress", pointer, value)), "accepted") << pointer << " " << value;
  }
  EXPECT_NE(refusal(with_metadata(good_, "progress", std::string(100000, '['))), "accepted");
  EXPECT_NE(refusal(with_metadata(good_, "identity", std::string(100000, '['))), "accepted");
  for (const char* name : {"weights/a", "average/b", "m/a", "v/b", "best/a"})
    EXPECT_NE(refusal(without_tensor(good_, name)), "accepted") << name;
  EXPECT_NE(refusal(with_element(good_, "v/a", 1, -1)), "accepted");
  EXPECT_NE(refusal(with_element(good_, "m/a", 1, NAN)), "accepted");
}

}  // namespace
}  // namespace occam
