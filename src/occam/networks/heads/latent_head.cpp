#include "occam/networks/heads/latent_head.hpp"

#include <algorithm>

#include "occam/nn/sampling.hpp"

namespace occam {
namespace {

template <class T>
void add_to(Matrix<const T> from, Matrix<T> to) {
  for (std::int64_t r = 0; r < to.rows; ++r) {
    for (std::int64_t c = 0; c < to.columns; ++c) to.row(r)[c] += from.row(r)[c];
  }
}

}  // namespace

Fields fields(LatentOptions& o) {
  return {field("encoder_width", o.encoder_width, "units per layer of the encoder").at_least(1).at_most(8192),
          field("encoder_layers", o.encoder_layers, "layers of the encoder").at_least(1).at_most(16),
          field("latents", o.latents, "latent variables").at_least(1).at_most(8192),
          field("latent_weight", o.latent_weight, "weight of the penalty that keeps them near N(0, I)")
              .at_least(0)};
}

template <class T>
struct LatentHead<T>::OwnTape {
  Matrix<T>* encoder;
  Matrix<T> latent;                // (sets, 2 L)
  Matrix<T> eps;                   // (sets, L)
  Matrix<T> d_mu, d_log_var, d_z;  // of the penalty; data null without noise
};

template <class T>
LatentHead<T>::LatentHead(const LatentOptions& options, HeadPlan<T>& plan)
    : Head<T>(plan),
      options_(options),
      encoder_(plan.layout, plan.packed, "encoder", this->summary_width(), options.encoder_width,
               options.encoder_layers, Activation::elu),
      latent_(std::make_unique<Dense<T>>(plan.layout, plan.packed, "latent", encoder_.out(),
                                         2 * options.latents, Activation::identity)) {
  this->add_layers(encoder_);
  this->add_layer(*latent_);
  this->add_outputs(plan, options.latents);
}

template <class T>
void LatentHead<T>::draw(Rng rng, T* eps) const {
  for (std::int64_t c = 0; c < options_.latents; ++c) eps[c] = static_cast<T>(rng.normal());
}

template <class T>
Matrix<T> LatentHead<T>::upper(const T* packed, const PassNoise* noise, HeadTape<T>& tape,
                               Workspace& workspace) const {
  const std::int64_t sets = tape.features.rows;
  const std::int64_t L = options_.latents;
  auto& own = *workspace.make<OwnTape>();
  tape.own = &own;
  own.encoder = encoder_.forward(packed, tape.summary, workspace);
  own.latent = workspace.matrix<T>(sets, 2 * L);
  latent_->forward(packed, own.encoder[encoder_.size() - 1], own.latent);
  const Matrix<T> mu = own.latent.columns_from(0, L);
  const Matrix<T> log_var = own.latent.columns_from(L, L);
  own.eps = workspace.zeros<T>(sets, L);
  const Matrix<T> z = workspace.zeros<T>(sets, L);
  for (std::int64_t b = 0; noise != nullptr && b < sets; ++b) draw(noise->stream(b), own.eps.row(b));
  if (noise == nullptr) {
    for (std::int64_t b = 0; b < sets; ++b) std::copy_n(mu.row(b), L, z.row(b));
    return z;
  }
  gaussian_sample<T>(mu, log_var, own.eps, z);
  tape.penalty = workspace.take<double>(sets);
  std::fill_n(tape.penalty, sets, 0.0);
  own.d_mu = workspace.zeros<T>(sets, L);
  own.d_log_var = workspace.zeros<T>(sets, L);
  own.d_z = workspace.zeros<T>(sets, L);
  const Workspace::Scope scope(workspace);
  penalise({mu, log_var, z, tape.penalty, own.d_mu, own.d_log_var, own.d_z}, workspace);
  return z;
}

template <class T>
Matrix<T> LatentHead<T>::upper_back(const T* packed, HeadTape<T>& tape, Matrix<T> d_last, T* gradient,
                                    Workspace& workspace) const {
  const auto& own = *static_cast<const OwnTape*>(tape.own);
  const std::int64_t sets = tape.features.rows;
  const std::int64_t L = options_.latents;
  const Matrix<T> d_latent = workspace.matrix<T>(sets, 2 * L);
  const Matrix<T> d_mu = d_latent.columns_from(0, L);
  const Matrix<T> d_log_var = d_latent.columns_from(L, L);
  const bool penalised = own.d_z.data != nullptr;
  if (penalised) add_to<T>(own.d_z, d_last);
  gaussian_sample_back<T>(own.latent.columns_from(L, L), own.eps, d_last, d_mu, d_log_var);
  if (penalised) add_to<T>(own.d_mu, d_mu);
  if (penalised) add_to<T>(own.d_log_var, d_log_var);
  const Matrix<T> top = own.encoder[encoder_.size() - 1];
  const Matrix<T> d_top = workspace.matrix<T>(sets, top.columns);
  latent_->backward(top, own.latent, d_latent, gradient);
  latent_->backward_input(packed, d_latent, d_top, false);
  const Matrix<T> d_summary = workspace.matrix<T>(sets, tape.summary.columns);
  encoder_.backward(packed, tape.summary, own.encoder, d_top, d_summary, false, gradient, workspace);
  return d_summary;
}

template class LatentHead<float>;
template class LatentHead<double>;

}  // namespace occam
