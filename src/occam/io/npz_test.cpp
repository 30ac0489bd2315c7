#include "occam/io/npz.hpp"

#include <cstring>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/io/test_support.hpp"

namespace occam {
namespace {

using testing_support::failure_of;
using testing_support::mutated;
using testing_support::TemporaryFolder;

std::string npz_fixture(const std::string& name) {
  return std::string(OCCAM_TEST_DATA "/io/") + name;
}

NdArray npz_array(std::vector<float> values) {
  return NdArray::of<float>({static_cast<std::int64_t>(values.size())}, values);
}

std::string npz_bytes(const std::vector<std::pair<std::string, NdArray>>& arrays,
                      std::uint64_t limit = 0xfffffffe) {
  std::string bytes;
  NpzWriter writer([&](std::string_view part) { bytes += part; }, limit);
  for (const auto& [name, array] : arrays) writer.add(name, array);
  writer.commit();
  return bytes;
}

// Opens the archive and reads every array of it.
std::string npz_failure(const std::string& bytes) {
  std::string last = "no error";
  const std::string opening = failure_of([&] {
    const NpzReader reader(bytes, "x.npz");
    for (const std::string& name : reader.names()) {
      const std::string failure = failure_of([&] { reader.read(name); });
      if (failure != "no error") last = failure;
      failure_of([&] { reader.header(name); });
    }
  });
  return opening == "no error" ? last : opening;
}

void expect_numpy_arrays(const NpzReader& reader) {
  const std::vector<double> six = {0, 1, 2, 3, 4, 5};
  for (int type = 0; type < static_cast<int>(DType::boolean); ++type) {
    const std::string name(dtype_name(static_cast<DType>(type)));
    const NdArray array = reader.read(name);
    EXPECT_EQ(array.dtype, static_cast<DType>(type));
    EXPECT_EQ(array.shape, (Shape{2, 3}));
    EXPECT_EQ(array.as_double(), six) << name;
  }
  EXPECT_EQ(reader.read("bool").as_int64(), (std::vector<std::int64_t>{0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(reader.read("scalar").as_double(), std::vector<double>{2.5});
  EXPECT_EQ(reader.read("empty").shape, (Shape{0, 4}));
  EXPECT_EQ(reader.read("cube").as_float()[23], 23 / 8.0f);
  EXPECT_EQ(reader.read("zeros").as_double(), std::vector<double>(5000));
  EXPECT_EQ(reader.read("fortran_line").as_double(), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(reader.read("größe").as_double(), std::vector<double>{1});
  EXPECT_EQ(reader.header("cube").shape, (Shape{2, 3, 4}));
  EXPECT_EQ(reader.names().size(), 17u);
}

TEST(Npz, ReadsWhatNumPySaves) {
  expect_numpy_arrays(NpzReader(npz_fixture("stored.npz")));
  expect_numpy_arrays(NpzReader(read_file(npz_fixture("stored.npz")), "memory"));
}

TEST(Npz, ReadsOrRefusesCompressedArrays) {
  const NpzReader reader(npz_fixture("compressed.npz"));
#if OCCAM_ZLIB
  expect_numpy_arrays(reader);
#else
  EXPECT_NE(failure_of([&] { reader.read("cube"); }).find("built without zlib"), std::string::npos);
#endif
}

TEST(Npz, ReadsDataDescriptorsAndSkipsOtherMembers) {
  const NpzReader reader(npz_fixture("descriptors.npz"));
  EXPECT_EQ(reader.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(reader.read("a").as_int64(), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
#if OCCAM_ZLIB
  EXPECT_EQ(reader.read("b"), reader.read("a"));
#endif
}

TEST(Npz, SaysWhatItCannotRead) {
  const std::string path = npz_fixture("refused.npz");
  const NpzReader reader(path);
  const auto refusal = [&](const std::string& name) {
    const std::string failure = failure_of([&] { reader.read(name); });
    const std::string start = "65: " + path + ": array '" + name + "': ";
    EXPECT_EQ(failure.substr(0, start.size()), start);
    return failure.substr(std::min(start.size(), failure.size()));
  };
  EXPECT_EQ(refusal("big_endian"), "big-endian numbers ('>f8') cannot be read; save a.astype(np.float64)");
  EXPECT_EQ(refusal("fortran"), "the array is in Fortran order; save np.ascontiguousarray(a)");
  EXPECT_EQ(refusal("half"),
            "an array of floating-point numbers of an unusual size ('<f2') cannot be read; save "
            "a.astype(np.float32)");
  EXPECT_EQ(refusal("complex").find("an array of complex numbers ('<c8')"), 0u);
  EXPECT_EQ(refusal("text").find("an array of strings ('<U1')"), 0u);
  EXPECT_EQ(refusal("objects").find("an array of Python objects ('|O')"), 0u);
  EXPECT_EQ(refusal("dates").find("an array of dates"), 0u);
  EXPECT_EQ(refusal("fields").find("a structured array"), 0u);
  EXPECT_EQ(failure_of([&] { reader.read("halff"); }),
            "65: " + path + ": no array 'halff' (did you mean 'half'?)");
  EXPECT_EQ(failure_of([] { NpzReader reader_of_nothing("/nonexistent.npz"); }).substr(0, 3), "66:");
}

TEST(Npz, RoundTripsAndIsDeterministic) {
  const std::vector<std::pair<std::string, NdArray>> arrays = {
      {"b", npz_array({1, 2, 3})},
      {"a/x", NdArray::of<std::int64_t>({1, 1}, std::vector<std::int64_t>{-7})},
      {"é", npz_array({})}};
  // Both plain and ZIP64, which a low limit brings about.
  for (const std::uint64_t limit : {std::uint64_t{0xfffffffe}, std::uint64_t{150}, std::uint64_t{0}}) {
    const std::string bytes = npz_bytes(arrays, limit);
    EXPECT_EQ(bytes, npz_bytes(arrays, limit));
    const NpzReader reader(bytes, "x.npz");
    ASSERT_EQ(reader.names(), (std::vector<std::string>{"b", "a/x", "é"}));
    for (const auto& [name, array] : arrays) EXPECT_EQ(reader.read(name), array) << name << ' ' << limit;
  }
  EXPECT_EQ(NpzReader(npz_bytes({}), "x").names().size(), 0u);
}

TEST(Npz, WritesFilesAtomically) {
  const TemporaryFolder folder;
  {
    NpzWriter writer(folder / "x.npz");
    writer.add("a", npz_array({1}));
  }
  EXPECT_EQ(folder.count_files(), 0u);
  NpzWriter writer(folder / "x.npz");
  writer.add("a", npz_array({1}));
  EXPECT_EQ(failure_of([&] { writer.add("a", npz_array({2})); }).substr(0, 3), "64:");
  EXPECT_EQ(failure_of([&] { writer.add("", npz_array({2})); }).substr(0, 3), "64:");
  EXPECT_EQ(failure_of([&] { writer.add("\xff", npz_array({2})); }).substr(0, 3), "64:");
  writer.commit();
  EXPECT_EQ(NpzReader(folder / "x.npz").read("a"), npz_array({1}));
}

TEST(Npz, HoldsMoreMembersThan16BitsCount) {
  std::string bytes;
  NpzWriter writer([&](std::string_view part) { bytes += part; });
  const NdArray array = npz_array({});
  for (int i = 0; i < 65600; ++i) writer.add(std::to_string(i), array);
  writer.commit();
  const NpzReader reader(std::move(bytes), "x");
  EXPECT_EQ(reader.names().size(), 65600u);
  EXPECT_EQ(reader.read("65599"), array);
}

TEST(Npz, NoticesDamage) {
  const std::string good = npz_bytes({{"a", npz_array({1, 2})}});
  ASSERT_EQ(npz_failure(good), "no error");
  std::string flipped = good;
  flipped[30 + 5 + 128 + 2] ^= 1;  // local header, name, npy header, then data
  EXPECT_EQ(npz_failure(flipped), "65: x.npz: array 'a': damaged (CRC does not match)");
  EXPECT_EQ(npz_failure("not a zip file at all, just text").find("65: x.npz: not an npz archive"), 0u);
  EXPECT_EQ(npz_failure(good + std::string(5, '\0')).find("65: x.npz: not an npz archive"), 0u);

  // The size in the directory raised: more than the file holds, for a stored and for a deflated member.
  const std::size_t directory = good.rfind("PK\x01\x02");
  std::string bomb = good;
  bomb.replace(directory + 24, 4, "\xf0\xff\xff\x7f");
  EXPECT_EQ(npz_failure(bomb), "65: x.npz: broken npz archive: a stored member has two sizes");
  bomb[directory + 10] = 8;
  EXPECT_EQ(npz_failure(bomb), "65: x.npz: broken npz archive: a member claims an impossible size");
  std::string encrypted = good;
  encrypted[directory + 8] = 1;
  EXPECT_EQ(npz_failure(encrypted), "65: x.npz: array 'a': encrypted; save it without a password");
}

TEST(Npz, RefusesOverlappingAndRepeatedMembers) {
  const NdArray array = npz_array({1, 2, 3, 4});
  const std::string good = npz_bytes({{"a", array}, {"b", array}});
  const std::size_t second = good.rfind("PK\x01\x02");
  std::string overlapping = good;
  overlapping.replace(second + 42, 4, std::string(4, '\0'));  // both members at offset 0
  EXPECT_EQ(npz_failure(overlapping), "65: x.npz: broken npz archive: its members overlap");
  std::string repeated = good;
  repeated[second + 46] = 'a';
  EXPECT_EQ(npz_failure(repeated), "65: x.npz: broken npz archive: the array 'a' is there twice");
}

// A small archive that claims to be deflated from much more than it is long.
TEST(Npz, RefusesArchivesThatExpandWithoutBound) {
  const auto claiming = [](std::uint32_t bytes) {
    std::string archive = npz_bytes({{"data", npz_array(std::vector<float>(100'000))}});
    const std::size_t entry = archive.rfind("PK\x01\x02");
    archive[entry + 10] = 8;  // deflated
    std::memcpy(archive.data() + entry + 24, &bytes, sizeof(bytes));
    return failure_of([&] { NpzReader(archive, "x.npz"); });
  };
  EXPECT_EQ(claiming(60 << 20), "no error");  // reading it would find that the data are not deflated
  EXPECT_NE(claiming(380 << 20).find("bytes expand to more than 67108864"), std::string::npos)
      << claiming(380 << 20);
}

TEST(Npz, DamagedFilesAreReadOrRefused) {
  std::mt19937 random(1);
  const std::vector<std::string> seeds = {npz_bytes({{"a", npz_array({1, 2})}, {"b", npz_array({3})}}),
                                          npz_bytes({{"a", npz_array({1, 2})}}, 0),
                                          read_file(npz_fixture("descriptors.npz"))};
  int refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    refused += npz_failure(mutated(seeds[trial % seeds.size()], random)) != "no error";
  }
  EXPECT_GT(refused, 2000);
  for (const std::string& seed : seeds) {
    for (std::size_t length = 0; length < seed.size(); length += 3) {
      EXPECT_NE(npz_failure(seed.substr(0, length)), "no error") << length;
    }
  }
}

}  // namespace
}  // namespace occam
