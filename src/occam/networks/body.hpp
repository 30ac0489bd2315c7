// A body turns data sets of any size into one feature vector each: (ragged observations) -> (sets, features).
// Architectures (set, sequence, ...) are bodies; what follows them (post layers, summary, heads) is the same
// for all and lives in network.hpp. A body owns no weights: it knows where its own lie in the flat vectors.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/core/fields.hpp"
#include "occam/core/registry.hpp"
#include "occam/networks/input_rows.hpp"
#include "occam/nn/dense.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {

// Rows of a tile: what a longer data set is cut into, so that the memory of a pass does not grow with it.
inline constexpr std::int64_t kTileRows = 4096;

// Threads that share the tiles of a long data set, and a workspace for each.
struct TileThreads {
  ThreadPool& pool;
  Workspace* workspaces;
};

// What a body is built from.
template <class T>
struct BodyPlan {
  ParameterLayout& layout;
  PackedLayout<T>& packed;
  std::int64_t channels;                  // D
  bool log_n;                             // whether log N is an input
  T sum_scale;                            // factor that gives sums over observations the size of means
  std::vector<std::int64_t> labels = {};  // columns of the data that say which rows belong together
  std::int64_t tile_rows = kTileRows;
};

template <class T>
class Body {
 public:
  virtual ~Body() = default;

  virtual std::int64_t features() const = 0;
  // How many of these, the last ones, are worth reading as they are.
  virtual std::int64_t direct() const { return 0; }
  // The smallest data set it can take.
  virtual std::int64_t shortest() const { return 1; }
  // How many observations, and how many data sets of a batch of so many, a thread should carry through the
  // body at a time.
  virtual std::int64_t bundle_rows() const = 0;
  virtual std::int64_t bundle_sets(std::int64_t batch) const = 0;
  // Up to how many data sets are faster together than in bundles one after the other. Results are the same.
  virtual std::int64_t sets_together() const { return 1; }

  // A data set of more rows is worth the threads of a whole pool.
  virtual std::int64_t shared_rows() const { return std::numeric_limits<std::int64_t>::max(); }

  // Packing of the weights, as independent tasks.
  virtual std::int64_t pack_tasks() const = 0;
  virtual void pack(std::int64_t task, const T* weights, T* packed) const = 0;

  // f_n (sets): standardised log N. Returns features (sets, features) and, with `keep`, leaves in the
  // workspace, behind `tape`, what backward needs. `threads` may be null.
  virtual Matrix<T> forward(const T* packed, const InputRows<T>& input, const T* f_n, Workspace& workspace,
                            void*& tape, bool keep, const TileThreads* threads) const = 0;
  // d_features is overwritten; weight gradients are added to `gradient`.
  virtual void backward(const T* packed, const InputRows<T>& input, void* tape, Matrix<T> d_features,
                        T* gradient, Workspace& workspace) const = 0;
  // The same after a forward pass of several bundles; `gradients` (sets) says where those of each data set
  // are added. Bodies that want no more than one bundle need no other.
  virtual void backward_together(const T* packed, const InputRows<T>& input, void* tape, Matrix<T> d_features,
                                 T* const* gradients, Workspace& workspace) const {
    backward(packed, input, tape, d_features, gradients[0], workspace);
  }
};

struct Architecture {
  std::string help;
  std::function<nlohmann::json(const nlohmann::json& given)> resolve;  // all options, defaults filled in
  std::function<std::string()> markdown;                               // table of its options
  std::function<std::unique_ptr<Body<float>>(const nlohmann::json&, BodyPlan<float>&)> make_f32;
  std::function<std::unique_ptr<Body<double>>(const nlohmann::json&, BodyPlan<double>&)> make_f64;
};

// Describes an architecture whose class template is Type<T>(const Options&, BodyPlan<T>&).
template <template <class> class Type, class Options>
Architecture make_architecture(std::string help) {
  const auto read = [](const nlohmann::json& given) {
    Options options;
    set_fields(fields(options), given, "network");
    return options;
  };
  return {std::move(help),
          [read](const nlohmann::json& given) {
            Options options = read(given);
            return fields_json(fields(options));
          },
          [] {
            Options options;
            return fields_markdown(fields(options));
          },
          [read](const nlohmann::json& given, BodyPlan<float>& plan) -> std::unique_ptr<Body<float>> {
            return std::make_unique<Type<float>>(read(given), plan);
          },
          [read](const nlohmann::json& given, BodyPlan<double>& plan) -> std::unique_ptr<Body<double>> {
            return std::make_unique<Type<double>>(read(given), plan);
          }};
}

// Every architecture listed in CMakeLists.txt.
const Registry<Architecture>& architectures();
void register_networks(Registry<Architecture>& registry);  // generated

}  // namespace occam
