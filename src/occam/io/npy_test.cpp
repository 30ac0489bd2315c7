#include "occam/io/npy.hpp"

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/io/test_support.hpp"

namespace occam {
namespace {

using testing_support::failure_of;
using testing_support::mutated;
using testing_support::TemporaryFolder;

const std::vector<float> kSix = {0, 1, 2, 3, 4, 5};

std::string npy_bytes(const ArrayView& array) {
  std::string bytes;
  write_npy([&](std::string_view part) { bytes += part; }, array);
  return bytes;
}

// A version 1 file with this dict as header.
std::string npy_with_dict(const std::string& dict, std::size_t data_bytes = 0) {
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(dict.size() & 0xff);
  bytes += static_cast<char>(dict.size() >> 8);
  return bytes + dict + std::string(data_bytes, '\0');
}

std::string npy_failure(const std::string& bytes) {
  return failure_of([&] { parse_npy(bytes, "x.npy"); });
}

TEST(Npy, ReadsEveryVersionNumPyWrites) {
  for (const char* file : {"v1.npy", "v2.npy", "v3.npy"}) {
    const NdArray array = read_npy(std::string(OCCAM_TEST_DATA "/io/") + file);
    EXPECT_EQ(array.dtype, DType::float32);
    EXPECT_EQ(array.shape, (Shape{2, 3}));
    EXPECT_EQ(array.as_float(), kSix);
  }
}

TEST(Npy, WritesWhatNumPyWrites) {
  EXPECT_EQ(npy_bytes(ArrayView::of<float>({2, 3}, kSix)), read_file(OCCAM_TEST_DATA "/io/v1.npy"));
}

TEST(Npy, RoundTripsTypesAndShapes) {
  const TemporaryFolder folder;
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{0}, Shape{3, 0, 2}, Shape{2, 3}, Shape{1, 2, 1, 3}}) {
    for (int type = 0; type <= static_cast<int>(DType::boolean); ++type) {
      NdArray array{static_cast<DType>(type), shape, {}};
      array.bytes.resize(*array_bytes(shape, array.dtype), std::byte{1});
      const std::string bytes = npy_bytes(array);
      EXPECT_EQ(parse_npy(bytes, "x.npy"), array) << shape_text(shape);
      EXPECT_EQ((bytes.size() - array.bytes.size()) % 64, 0u);
    }
  }
  const NdArray six = NdArray::of<float>({3, 2}, kSix);
  write_npy(folder / "x.npy", six);
  EXPECT_EQ(read_npy(folder / "x.npy"), six);
}

TEST(Npy, TakesDictsInAnyForm) {
  for (const char* dict :
       {"{'descr':'<f4','fortran_order':False,'shape':(2,3)}\n",
        "{ \"shape\" : ( 2L , 3L , ) , \"fortran_order\" : False , \"descr\" : \"=f4\" , }   ",
        "{'fortran_order': False, 'shape': (6,), 'descr': 'f4'}",
        "{'fortran_order': True, 'shape': (1, 6), 'descr': '<f4'}"}) {
    EXPECT_EQ(npy_failure(npy_with_dict(dict, 24)), "no error") << dict;
  }
}

TEST(Npy, RefusesClearly) {
  EXPECT_EQ(npy_failure(""), "65: x.npy: the file ends inside the npy header");
  EXPECT_EQ(npy_failure("a,b\n1,2\n3,4\n"), "65: x.npy: not an npy file");
  EXPECT_EQ(npy_failure(std::string("\x93NUMPY\x07\x00\x00\x00", 10)),
            "65: x.npy: npy version 7; known are 1 to 3");
  EXPECT_EQ(npy_failure(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)),
            "65: x.npy: an npy header of 4294967295 bytes; at most 1048576 are read");
  const auto with_shape = [](const std::string& shape) {
    return npy_failure(npy_with_dict("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}", 20));
  };
  EXPECT_EQ(with_shape("(5,)"), "no error");
  EXPECT_EQ(with_shape("(6,)"), "65: x.npy: float32 of shape (6,) take 24 bytes, but 20 follow the header");
  EXPECT_EQ(with_shape("(4,)"), "65: x.npy: float32 of shape (4,) take 16 bytes, but 20 follow the header");
  EXPECT_EQ(with_shape("(4611686018427387904, 4)"),
            "65: x.npy: the shape (4611686018427387904, 4) is beyond any memory");
  EXPECT_EQ(with_shape("(1000000000000,)").substr(0, 20), "65: x.npy: float32 o");
  for (const char* shape :
       {"(-1,)", "(5", "5", "(99999999999999999999,)", "(5,,)", "('5',)", "(5.0,)", "[5]"}) {
    EXPECT_NE(with_shape(shape).find("broken npy header"), std::string::npos) << shape;
  }
  for (const char* dict : {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'descr': '<f4'}", "{'x': 1}",
                           "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}",
                           "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x"}) {
    EXPECT_NE(npy_failure(npy_with_dict(dict)).find("broken npy header"), std::string::npos) << dict;
  }
}

TEST(Npy, DamagedFilesAreReadOrRefused) {
  const std::string good = npy_bytes(ArrayView::of<float>({2, 3}, kSix));
  std::mt19937 random(1);
  int refused = 0;
  for (int trial = 0; trial < 4000; ++trial) refused += npy_failure(mutated(good, random)) != "no error";
  EXPECT_GT(refused, 2000);
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(npy_failure(good.substr(0, length)), "no error") << length;
  }
}

}  // namespace
}  // namespace occam
