// A model simulated by a C++ file of the user's own (simulator.h): compiled on first use by the user's
// compiler, kept by content, loaded into this program.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "occam/simulate/own/own_family.hpp"

struct occam_request_v1;

namespace occam {

class CompiledFamily final : public OwnFamily {
 public:
  // Error(no_input) when the file is not in the model's folder. Files that it includes with quotes belong to
  // it.
  CompiledFamily(OwnModel model, std::string source);

  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override;

 private:
  using Function = int (*)(const occam_request_v1*);

  void add_source(const std::string& file);
  // Compiles and loads at the first call. Error(bad_config) with what the compiler said, or that there is
  // none.
  Function function() const;
  std::string compiled() const;

  std::string source_;
  std::vector<std::string> names_;       // of the parameters
  std::vector<const char*> name_texts_;  // the same, for C
  mutable std::mutex mutex_;
  mutable std::atomic<Function> function_{nullptr};
  mutable std::exception_ptr failure_;
};

}  // namespace occam
