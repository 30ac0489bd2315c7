#include "occam/nn/parameters.hpp"

#include <algorithm>
#include <cmath>

#include "occam/core/error.hpp"

namespace occam {
namespace {

// More weights than this is a mistake in the options, not a network of this kind.
constexpr std::int64_t kMostWeights = std::int64_t{1} << 31;

std::int64_t element_count(const std::string& name, const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 1 || __builtin_mul_overflow(count, extent, &count) || count > kMostWeights) {
      throw Error(ErrorKind::bad_config, "network: the size of '{}' is not usable (extent {})", name, extent);
    }
  }
  return count;
}

// Fan in and out of (in, out) and (kernel, in, out) weights.
double fan_sum(const Tensor& tensor) {
  const double out = static_cast<double>(tensor.shape.back());
  const double in = static_cast<double>(tensor.size) / out;
  const double kernel = tensor.shape.size() == 3 ? static_cast<double>(tensor.shape[0]) : 1.0;
  return in + out * kernel;
}

}  // namespace

std::int64_t ParameterLayout::add(std::string name, std::vector<std::int64_t> shape, Init init) {
  if (find(name) != nullptr) throw Error(ErrorKind::internal, "tensor '{}' is defined twice", name);
  const std::int64_t count = element_count(name, shape);
  const std::int64_t offset = size_;
  if (size_ + count > kMostWeights) {
    throw Error(ErrorKind::bad_config, "network: more than {} weights at '{}'", kMostWeights, name);
  }
  tensors_.push_back({std::move(name), std::move(shape), offset, count, init});
  size_ += count;
  return offset;
}

const Tensor* ParameterLayout::find(const std::string& name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const Tensor& tensor) { return tensor.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

template <class T>
void ParameterLayout::initialise(std::span<T> weights, std::uint64_t seed, std::uint64_t attempt) const {
  Rng rng(seed, Purpose::weights, attempt);
  for (const Tensor& tensor : tensors_) {
    const auto part =
        weights.subspan(static_cast<std::size_t>(tensor.offset), static_cast<std::size_t>(tensor.size));
    std::fill(part.begin(), part.end(), T{0});
    if (tensor.init == Init::glorot) {
      const double bound = std::sqrt(6.0 / fan_sum(tensor));
      for (T& weight : part) weight = static_cast<T>(rng.uniform(-bound, bound));
    } else if (tensor.init == Init::forget) {
      std::fill_n(part.begin() + tensor.size / 4, tensor.size / 4, T{1});
    }
  }
}

template void ParameterLayout::initialise<float>(std::span<float>, std::uint64_t, std::uint64_t) const;
template void ParameterLayout::initialise<double>(std::span<double>, std::uint64_t, std::uint64_t) const;

}  // namespace occam
