// Network files with structure-aware changes. The first byte chooses a sample and the data asked about, the
// rest are the changes (edits.hpp); the checksum is put right. A file that is accepted has to answer, judge
// scope, and tell its problem without running anything.
#include "edits.hpp"
#include "occam/check/network_problem.hpp"
#include "occam/compare/answer_writer.hpp"
#include "occam/compare/range_check.hpp"
#include "occam/networks/network_text.hpp"
#include "occam/scope/scope.hpp"
#include "samples.hpp"

namespace {

using namespace occam;
using namespace occam::fuzz;

const Safetensors& sample(std::size_t kind) {
  static const std::vector<Safetensors> samples = [] {
    std::vector<Safetensors> all;
    for (std::size_t k = 0; k < kSampleNetworks; ++k)
      all.push_back(network_to_safetensors(sample_network(k)));
    return all;
  }();
  return samples[kind];
}

std::string written(const char* name, const NetworkFile& file, const AnswerTable& columns,
                    const ModelPosterior& answers, const AnswerExtras& extras) {
  std::string text;
  const auto writer = make_answer_writer(
      name, [&](std::string_view bytes) { text += bytes; }, file, columns.names());
  for (std::int64_t b = 0; b < answers.size(); ++b) writer->add(columns.row(answers, extras, b));
  writer->end(nlohmann::json::object());
  return text;
}

void answer(NetworkFile loaded, std::size_t kind, std::int64_t sets) {
  Comparator comparator(std::move(loaded), pool());
  const NetworkFile& file = comparator.file();
  const std::optional<ScopeReference> scope = scope_of(file);
  network_text(file);
  network_json(file).dump(2);
  const std::int64_t D = file.config.channels;
  const SampleData data = sample_data(kind, D, sets);
  const Ragged<const float> view{{data.values.data(), data.offsets.back(), D, D}, data.offsets.data(), sets};
  const NetworkOutputs outputs = comparator.outputs(view);
  ModelPosterior answers = comparator.empty_posterior();
  AnswerExtras extras;
  comparator.add_answers(data.ids, view, outputs, answers,
                         file.config.parameters > 0 ? &extras.estimates : nullptr);
  if (scope) extras.scope = judge_scope(*scope, comparator, view, outputs);
  extras.summary = outputs.summary;
  extras.verdicts = verdicts_on(answers, extras, {});
  const AnswerTable columns({file, file.config.parameters > 0, comparator.summary_width()});
  written("a.csv", file, columns, answers, extras);
  written("a.json", file, columns, answers, extras);
  answer_header(answers, scope.has_value());
  answer_lines(answers, extras, 10);
  RangeCheck ranges(file);
  ranges.add(data.ids, view);
  ranges.warnings();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  const std::uint8_t first = choices.byte();
  const std::size_t kind = first % kSampleNetworks;
  Safetensors contents = sample(kind);
  edit(contents, choices);
  seal(contents);
  NetworkFile file;
  if (!accepted({ErrorKind::bad_config}, [&] { file = network_from_safetensors(contents, "n.occam"); }))
    return 0;
  accepted({ErrorKind::bad_config}, [&] { told_problem(file); });
  accepted({ErrorKind::bad_config, ErrorKind::no_input}, [&] { network_problem(file, ""); });
  accepted({ErrorKind::bad_config, ErrorKind::bad_data},
           [&] { answer(std::move(file), kind, 1 + first / 64); });
  return 0;
}
