// What a device is told to do: plain structures that a kernel reads as they are. A network is a few programs
// of rows (observations or data sets), which never look at another row, and between them the pooling of the
// rows of each data set. A block of threads carries a tile of rows through a whole program; between its
// layers they stay in shared memory. All matrices are row-major, their rows padded with zeros to a multiple
// of 16.
#pragma once

#include <cstdint>
#include <vector>

#include "occam/engine/cuda/formulas.hpp"
#include "occam/nn/pool.hpp"

namespace occam::gpu {

inline constexpr int kBlock = 16;  // products are made of blocks of 16 by 16

OCCAM_BOTH constexpr int padded16(int n) {
  return (n + kBlock - 1) / kBlock * kBlock;
}

// The numbers of one step, at the head of the batch that it takes.
struct StepHead {
  std::int32_t rows, sets;
  std::int32_t loss_at;  // of Report::losses
  std::int32_t fresh;    // the first step after learn(): forget an old fault
  std::int32_t bundles;  // of data sets
  float scale;           // one over the number of data sets
  float adam_rate, adam_root, average_rate, muon_rate;
  double clip;
  double lambda, parameter_weight;
};

// A batch on the device.
struct Feed {
  const StepHead* head;
  const std::int32_t* offsets;  // (sets + 1)
  const std::int32_t* models;   // (sets)
  const float* present;         // (sets) parameters that the true model has
  const float* targets;         // (sets, P) of the parameters, NaN: none
  const float* raw;             // (rows, D)
  const std::int32_t* levels;   // (L, level_stride) offsets of windows, of one convolution after the other
  std::int32_t level_stride;    //
  const float* statistics;      // (sets, S)
  const float* noise;           // (sets, noise_stride) what the head draws in training
  std::int32_t noise_stride;
  const std::int32_t* bundles;  // (bundles + 1) the first of those data sets that a head looks at together
  const std::int32_t*
      labels;               // (columns of labels, 3 label_rows + 1): the label of each row, the rows of one
  std::int32_t label_rows;  // label after the other, and where those of each begin
};

OCCAM_BOTH inline float noise_of(const Feed& feed, int set, int column) {
  return feed.noise[static_cast<std::int64_t>(set) * feed.noise_stride + column];
}

// Where the rows of each data set begin, of observations (level 0) or of the outputs of a convolution.
OCCAM_BOTH inline const std::int32_t* offsets_of(const Feed& feed, int level) {
  return level == 0 ? feed.offsets : feed.levels + static_cast<std::int64_t>(level - 1) * feed.level_stride;
}
OCCAM_BOTH inline int rows_of_set(const Feed& feed, int level, int set) {
  const std::int32_t* const offsets = offsets_of(feed, level);
  return offsets[set + 1] - offsets[set];
}
OCCAM_BOTH inline int rows_of(const Feed& feed, bool of_sets, int level) {
  return of_sets ? feed.head->sets : offsets_of(feed, level)[feed.head->sets];
}

// How one column enters the network; -1: not in this way.
struct ColumnPlan {
  Transformation transformation;
  double centre, width, mean, factor, plain_within;
  std::int32_t mask_at, local_at, waves_at, levels_at, stays_at, atoms_at, ends_at;
  std::int32_t waves, levels, atoms;
  float level[kFewLevels], atom[kMostAtoms];
};

// Statistics lie in pieces: what a layer reads at a time has to fit into shared memory.
inline constexpr int kStatisticsPiece = 1024, kMostStatisticsPieces = 16;

struct InputPlan {
  const ColumnPlan* columns;
  std::int32_t channels, stride;
  float* x;                                  // (rows, stride)
  std::int32_t* set_of_row;                  // (rows)
  float* statistics[kMostStatisticsPieces];  // (sets, columns of the piece)
  std::int32_t statistics_count;
};

OCCAM_BOTH inline float& statistic(const InputPlan& input, int set, int i) {
  const int piece = i / kStatisticsPiece, rest = input.statistics_count - piece * kStatisticsPiece;
  const int columns = rest < kStatisticsPiece ? rest : kStatisticsPiece;
  return input.statistics[piece][static_cast<std::int64_t>(set) * padded16(columns) + i % kStatisticsPiece];
}

// Which rows belong together, by the column of labels of this number.
struct LabelRows {
  const std::int32_t *of_row, *rows, *first;

  OCCAM_BOTH LabelRows(const Feed& feed, int column)
      : of_row(feed.labels + column * (3 * static_cast<std::int64_t>(feed.label_rows) + 1)),
        rows(of_row + feed.label_rows),
        first(rows + feed.label_rows) {}
  OCCAM_BOTH int count(int label) const { return first[label + 1] - first[label]; }
};

// Means over the rows of each label (networks/label_level), and the way back.
struct LabelView {
  std::int32_t column = 0;  // of labels, counted from 0
  std::int32_t level = 0;   // whose rows are labels
  std::int32_t width = 0, stride = 0, mean_stride = 0;
  const float* e = nullptr;        // (rows, stride)
  float* means = nullptr;          // (labels, mean_stride): of e, and behind them how many rows
  const float* d_means = nullptr;  // (labels, mean_stride)
  float* back = nullptr;           // (rows, stride) what labels pass back to e
  bool adds = false;               // to what another column of labels passed back
};

// Pooling over the rows of each data set, and what its way back needs.
struct PoolView {
  Pooling pooling = Pooling::sum;
  std::int32_t width = 0, stride = 0;  // of e
  const float* e = nullptr;            // (rows, stride)
  const float* score = nullptr;        // (rows, stride)
  float* top = nullptr;                // (sets, stride) largest score and one over the sum of weights
  float* inverse = nullptr;            //
  std::int32_t* largest = nullptr;     // (sets, stride) row of the largest, from the first of its data set
  float sum_scale = 1;
  bool log_n = false;
  double log_n_mean = 0, log_n_scale = 1;
  std::int32_t moments = 0, moment_blocks = 1, moments_stride = 0;
  const float* factors = nullptr;  // (rows, moments_stride), block by block
  float* pooled = nullptr;         // (sets, pooled_stride): pooled columns, log N, moments
  const float* d_pooled = nullptr;
  std::int32_t pooled_stride = 0;
  std::int32_t level = 0;       // of the rows of e
  std::int32_t size_level = 0;  // of the rows whose number is N
  const float* more = nullptr;  // (rows, stride) gradient that e has from elsewhere; null: none

  OCCAM_BOTH int columns() const { return pooling == Pooling::mean_sum ? 2 * width : width; }
  OCCAM_BOTH int moments_at() const { return columns() + (log_n ? 1 : 0); }
  OCCAM_BOTH int pairs() const { return moments * (moments + 1) / 2; }
};

// The factors of the moments of each data set (nn/factor), with their gains unless null, and the way back.
struct FactorView {
  PoolView pool;  // whose moments
  std::int32_t stride = 0, gain_stride = 0;
  float* out = nullptr;            // (sets, stride)
  const float* d_out = nullptr;    // (sets, stride)
  float* gains = nullptr;          // (sets, gain_stride)
  const float* d_gains = nullptr;  // (sets, gain_stride)
  float* d_pooled = nullptr;       // those of the pool, to be added to
  double* scratch = nullptr;       // (sets, blocks, pairs)
  double* left = nullptr;          // the same, where there are gains
};

// A convolution over time between two levels. A window of `kernel` rows of x, `in` columns each, is one row
// of the outputs' level.
struct WindowView {
  std::int32_t kernel = 0, stride = 0, in = 0;
  std::int32_t level = 0;    // of the outputs
  std::int32_t from = 0;     // of x
  const float* x = nullptr;  // (rows, padded in)
  const float* d = nullptr;  // (outputs, padded kernel in) gradient of the windows
};

// An LSTM over the rows of each data set. `gates` begins as x Wx + b, then holds i, f, g, o, and after the
// way back the gradients of their inputs.
struct LstmView {
  std::int32_t units = 0, stride = 0, gate_stride = 0;
  std::int64_t weight = 0;       // of Wh (units, 4 units), in the flat vector
  float* gates = nullptr;        // (rows, gate_stride)
  float* c = nullptr;            // (rows, stride)
  float* before = nullptr;       // (rows, stride) h of the row before
  float* out = nullptr;          // (sets, out_stride) the last h; log N behind it, where wanted
  const float* d_out = nullptr;  // (sets, out_stride)
  std::int32_t out_stride = 0;
  bool log_n = false;
  double log_n_mean = 0, log_n_scale = 1;
};

// Latent variables z of data sets, and the way back under their penalty.
struct LatentView {
  std::int32_t latents = 0, stride = 0, z_stride = 0;
  bool noisy = false;             // as in training; else z = mu
  bool mmd = false;               // whose penalty
  double weight = 0;              // of the penalty
  const float* latent = nullptr;  // (sets, stride) mu, and log_var behind it
  float* z = nullptr;             // (sets, z_stride)
  const float* d_z = nullptr;     // (sets, z_stride) that of the outputs
  float* d_latent = nullptr;      // (sets, stride)
  double* losses = nullptr;       // (sets) to be added to
  double* scratch = nullptr;      // (sets, latents)
};

// One product: rows in a buffer of the tile times weights, or their transpose.
struct Source {
  std::int32_t buffer = -1;
  std::int32_t inner = 0, columns = 0;  // of the product, not padded
  std::int64_t weight = 0;              // in the flat vector; rows of `weight_columns`
  std::int32_t weight_columns = 0;
  bool transposed = false;
  std::int64_t panels = 0;  // in the packed weights, in groups of 8 numbers
};

enum class OpKind { load, product, loss };

// What is added to the products of an op.
enum class Add {
  none,
  set_row,  // a row of the data set: (sets, stride)
  pool,     // the gradient that pooling passes to e
  score,    // and to the scores
  moments,  // and to the factors of the moments
  grown,    // a row of `from`, times the size of its data set (rows are data sets)
  windows,  // the gradient that windows pass to their rows; of a load: windows of the rows of `from`
  thinned,  // of a load only: rows of `from` times masks of the head, which are also kept in `store`
};

struct Op {
  OpKind kind = OpKind::product;
  std::int32_t sources = 0;
  Source source[4];
  std::int32_t columns = 0;     // not padded
  std::int32_t out = -1;        // buffer
  const float* from = nullptr;  // load: the matrix; set_row: its rows. Both with the stride of the columns
  std::int64_t bias = -1;       // in the flat vector
  Add add = Add::none;
  Activation activation = Activation::identity;
  const float* y = nullptr;  // backward: times the slope of the activation at these outputs
  float* store = nullptr;    // (rows, padded columns)

  std::int32_t noise = 0;  // thinned: the column of the noise that the masks begin at

  PoolView pool;      // of Add::pool, score, moments and grown
  WindowView window;  // of Add::windows

  // loss: reads models and parameters, sets their gradients (store and d_parameters, out and out_parameters)
  bool evidential = false;
  Link link = Link::exp;
  const float* models = nullptr;
  const float* parameters = nullptr;
  std::int32_t parameter_count = 0;
  float* d_parameters = nullptr;
  std::int32_t out_parameters = -1;
  double* losses = nullptr;  // (sets)
};

enum class LaunchKind {
  rows,
  pooling,
  factor,
  factor_back,
  lstm,
  lstm_back,
  latent,
  latent_back,
  labels,
  labels_back
};

// A program of rows, or what happens between two of them.
struct Launch {
  LaunchKind kind = LaunchKind::rows;
  PoolView pool;
  FactorView factor;
  std::int32_t first = 0, count = 0;    // ops
  std::int32_t buffers = 0, width = 0;  // of the tile: so many matrices of so many columns
  bool of_sets = false;                 // rows are data sets
  std::int32_t level = 0;               // of the rows
  LstmView lstm;
  LatentView latent;
  LabelView labels;
  bool beside = false;  // may run beside others, until one that `joins`
  bool joins = false;
};

// The gradient of a weight matrix, x' d, and of its bias.
struct Gradient {
  const float* x = nullptr;
  const float* d = nullptr;
  std::int32_t inner = 0, columns = 0;
  std::int64_t weight = 0, bias = -1;
  bool of_sets = false;
  std::int32_t level = 0;
};

// Rows are summed in parts, the parts in order. How they are cut depends on their number alone, on one
// device.
inline constexpr int kMostParts = 32;
OCCAM_BOTH constexpr int part_rows(int rows, int parts) {
  const int even = (rows + parts - 1) / parts;
  return even <= 128 ? 128 : (even + 31) / 32 * 32;
}
OCCAM_BOTH constexpr int parts_of(int rows, int parts) {
  return (rows + part_rows(rows, parts) - 1) / part_rows(rows, parts);
}

struct MuonMatrix {
  std::int64_t first = 0;
  std::int32_t rows = 0, columns = 0;
  float length = 0;  // of a step (MuonPlace)
  // n = max(rows, columns), m = min; strides padded. x (n, m) and its transpose, twice, as they take turns.
  float *x[2] = {}, *transposed[2] = {};
  float *gram = nullptr, *mixed = nullptr;  // (m, m)

  OCCAM_BOTH int tall() const { return rows > columns ? rows : columns; }
  OCCAM_BOTH int narrow() const { return rows > columns ? columns : rows; }
};

// What kind of weight it is: bits, and above them the level of the rows that its gradient is a sum over.
inline constexpr std::uint8_t kOfSets = 1, kOfMuon = 2;
inline constexpr int kLevelShift = 2;

inline constexpr int kMostLosses = 4096;

struct Report {
  std::int32_t fault;   // whether some step was not finite: none after it changes anything
  std::int32_t active;  // whether the present one does
  float clip;           // factor of the gradient
  std::int32_t fault_at;
  double losses[kMostLosses];
};

// What a network learns with, on the device. All (W), W weights, but for what is said.
struct Learning {
  std::int64_t size = 0;
  float *weights = nullptr, *average = nullptr, *first_moment = nullptr, *second_moment = nullptr;
  float *momentum = nullptr, *gradient = nullptr;
  float* parts = nullptr;  // (kMostParts, W) of the gradient
  std::uint8_t* kind = nullptr;
  double* norms = nullptr;        // squared, of the blocks of the gradient
  std::uint32_t* done = nullptr;  // blocks that are
  Report* report = nullptr;
};

// Everything that the kernels of one step read. Arrays are the device's once it has taken the program in.
struct Program {
  InputPlan input{};
  std::vector<Op> ops;
  std::vector<Launch> forward;   // to the outputs
  std::vector<Launch> training;  // forward and backward
  std::vector<Source> packs;     // weights as products read them
  std::vector<Gradient> gradients;
  std::vector<MuonMatrix> muon;
  std::int64_t panels = 0;  // size of the packed weights, in groups of 8 numbers
  double* losses = nullptr;
  const float *models = nullptr, *parameters = nullptr, *summary = nullptr;  // outputs of all data sets
  std::int32_t summary_width = 0;
  const float* first_post = nullptr;  // likewise: what a head that draws samples begins with
  std::int32_t first_post_width = 0;
};

}  // namespace occam::gpu
