// The program that a user's C++ file becomes: does what occam asks for until its standard input ends. A byte
// on standard input says that data sets or evidences are wanted, one on standard output that they are there;
// what is wanted and what was made lies in memory that both share (descriptor 3, struct occam_work_v2). This way a
// wild pointer or an endless loop in the user's function ends this process and nothing else.
#define OCCAM_HOST  // of simulator.h: only the plain C structures
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "occam/simulator.h"

extern "C" int occam_simulate_v1(const occam_request_v1* request);
extern "C" int occam_evidence_v1(const occam_request_v1* request, double* evidence);

namespace {

constexpr int kMemory = 3;

// The shared memory, mapped anew where it has grown.
class Memory {
 public:
  occam_work_v2* work() {
    map(sizeof(occam_work_v2));
    map(static_cast<std::size_t>(static_cast<occam_work_v2*>(data_)->bytes));
    return static_cast<occam_work_v2*>(data_);
  }
  template <class T>
  T* array(std::int64_t place) const {
    return reinterpret_cast<T*>(static_cast<char*>(data_) + place);
  }

 private:
  void map(std::size_t bytes) {
    if (bytes <= size_) return;
    if (data_ != nullptr) ::munmap(data_, size_);
    data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kMemory, 0);
    if (data_ == MAP_FAILED) ::_exit(71);
    size_ = bytes;
  }

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// A cell that is not written stays what it is here, and is found.
int simulate_one(const occam_request_v1& request) {
  float* const end = request.out + request.n * request.columns;
  for (float* row = request.out; row != end; row += request.columns) {
    for (std::int64_t c = 0; c < request.columns; ++c) {
      if (request.design[c] == 0) row[c] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  return occam_simulate_v1(&request);
}

void answer_all(Memory& memory) {
  occam_work_v2& work = *memory.work();
  const auto texts = [&memory](std::int64_t place, std::int64_t count) {
    std::vector<const char*> list;
    const char* text = memory.array<const char>(place);
    for (; count > 0; --count, text += std::strlen(text) + 1) list.push_back(text);
    return list;
  };
  const std::vector<const char*> names = texts(work.names, work.parameters);
  const std::vector<const char*> columns = texts(work.column_names, work.columns);
  occam_request_v1 request{};
  request.column_names = columns.data();
  request.design = memory.array<const char>(work.design);
  request.model = memory.array<const char>(work.model);
  request.names = names.data();
  request.parameters = work.parameters;
  request.columns = work.columns;
  request.message = work.message;
  request.message_size = sizeof(work.message);
  request.out = memory.array<float>(work.out);
  for (std::int64_t b = 0; b < work.sets; ++b) {
    work.at = b;
    request.theta = memory.array<const double>(work.theta) + b * work.parameters;
    request.seed[0] = memory.array<const std::uint64_t>(work.seeds)[2 * b];
    request.seed[1] = memory.array<const std::uint64_t>(work.seeds)[2 * b + 1];
    request.n = memory.array<const std::int64_t>(work.n)[b];
    const int answer = work.task == OCCAM_EVIDENCE
                           ? occam_evidence_v1(&request, memory.array<double>(work.evidences) + b)
                           : simulate_one(request);
    memory.array<std::int64_t>(work.answers)[b] = answer;
    if (answer < 0) return;
    request.out += request.n * work.columns;
  }
}

}  // namespace

int main() {
  // Descriptors of our own for requests and answers: what the user's function reads or prints does no harm.
  const int requests = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kMemory + 1);
  const int answers = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kMemory + 1);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (requests < 0 || answers < 0 || ::dup2(nothing, STDIN_FILENO) < 0 ||
      ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return 71;
  }
  Memory memory;
  for (char byte = 0; ::read(requests, &byte, 1) == 1;) {
    answer_all(memory);
    if (::write(answers, &byte, 1) != 1) return 71;
  }
  return 0;
}
