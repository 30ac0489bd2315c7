#include "occam/compare/observed.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/compare/range_check.hpp"
#include "occam/core/error.hpp"
#include "occam/io/npy.hpp"
#include "occam/io/npz.hpp"
#include "occam/io/test_support.hpp"

namespace occam {
namespace {

using Sets = std::vector<std::pair<std::string, std::vector<float>>>;

Sets read(const std::string& path, ObservedOptions options) {
  Sets all;
  read_observed(path, options, [&](const ObservedSets& sets) {
    const auto& [ids, data, groups, dropped] = sets;
    for (std::int64_t b = 0; b < data.sets; ++b) {
      const float* first = data.x.row(data.offsets[b]);
      all.emplace_back(ids[static_cast<std::size_t>(b)],
                       std::vector<float>(first, first + data.size(b) * data.x.columns));
    }
  });
  return all;
}

class Observed : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    write_file_atomic(path, text);
    return path;
  }
  testing_support::TemporaryFolder folder_;
  ObservedOptions xy_{{"x", "y"}, {}};
};

TEST_F(Observed, CsvByNameAndByDataset) {
  const auto path = file("a.csv", "y,dataset,x\n2,s,1\n4,s,3\n6,t,5\n");
  EXPECT_EQ(read(path, xy_), (Sets{{"s", {1, 2, 3, 4}}, {"t", {5, 6}}}));
  EXPECT_EQ(read(file("b.tsv", "x\ty\n1\t2\n"), xy_), (Sets{{"b", {1, 2}}}));
}

// "Dataset" is not "dataset"; that all rows are one data set has to be said.
TEST_F(Observed, AColumnThatMayTellDataSetsApartIsPointedAt) {
  struct Heard : SilentProgress {
    void warn(std::string_view message) override { said += message; }
    std::string said;
  } heard;
  xy_.notes = &heard;
  const auto path = file("a.csv", "y,Dataset,x\n2,s,1\n6,t,5\n");
  EXPECT_EQ(read(path, xy_), (Sets{{"a", {1, 2, 5, 6}}}));
  EXPECT_EQ(heard.said,
            path +
                ": all rows are taken for one data set; if column 'Dataset' tells data sets apart, "
                "add --by Dataset");
  heard.said.clear();
  xy_.by = {"Dataset"};
  EXPECT_EQ(read(path, xy_), (Sets{{"s", {1, 2}}, {"t", {5, 6}}}));
  EXPECT_EQ(heard.said, "");
}

TEST_F(Observed, ScatteredRowsAreGathered) {
  ObservedOptions options{{"x"}, {"subject", "day"}};
  const auto path = file("a.csv", "subject,day,x\na,1,1\nb,1,2\na,1,3\na,2,4\n");
  EXPECT_EQ(read(path, options), (Sets{{"a/1", {1, 3}}, {"b/1", {2}}, {"a/2", {4}}}));
}

TEST_F(Observed, LabelsMayBeCalledAnything) {
  ObservedOptions options{{"who", "x"}, {"day"}};
  options.labels = {{0}};
  const auto path = file("a.csv", "who,day,x\nS 07,1,1\nben,1,2\nS 07,1,3\n12,2,4\nben,2,5\n");
  EXPECT_EQ(read(path, options), (Sets{{"1", {1, 1, 2, 2, 1, 3}}, {"2", {2, 4, 1, 5}}}));
  EXPECT_THROW(read(file("b.csv", "who,day,x\nNA,1,1\n"), options), Error);
}

TEST_F(Observed, LabelsOfTwoColumnsMayNameTheSameThings) {
  ObservedOptions options{{"home", "away", "referee"}, {}};
  options.labels = {{0, 1}, {2}};
  const auto path = file("a.csv", "home,away,referee\nHSV,SC 04,X\nSC 04,FCB,Y\nVfL,HSV,HSV\n");
  EXPECT_EQ(read(path, options), (Sets{{"a", {1, 2, 2, 2, 3, 3, 4, 1, 1}}}));
}

// "a/b" and "c" are not "a" and "b/c", though both are shown alike.
TEST_F(Observed, SeveralColumnsTellDataSetsApartExactly) {
  ObservedOptions options{{"x"}, {"subject", "day"}};
  const auto path = file("a.csv", "subject,day,x\na/b,c,1\na,b/c,2\na/b,c,3\n");
  EXPECT_EQ(read(path, options), (Sets{{"a/b/c", {1, 3}}, {"a/b/c", {2}}}));
}

// Zero bytes in cells are bytes like others.
TEST_F(Observed, ZeroBytesDoNotMergeDataSets) {
  using namespace std::string_literals;
  ObservedOptions options{{"x"}, {"subject", "day"}};
  const auto path = file("a.csv", "subject,day,x\na\0b,c,1\na,b\0c,2\n"s);
  EXPECT_EQ(read(path, options), (Sets{{"a\0b/c"s, {1}}, {"a/b\0c"s, {2}}}));
}

TEST_F(Observed, IdsAreUtf8) {
  ObservedOptions options{{"x"}, {"name"}};
  EXPECT_EQ(read(file("a.csv", "name,x\nM\xfcller,1\n"), options), (Sets{{"Müller", {1}}}));
  options.by.clear();
  EXPECT_EQ(read(file("M\xfcller.csv", "x\n1\n"), options), (Sets{{"Müller", {1}}}));
}

TEST_F(Observed, RowsWithMissingValuesAreLeftOutOnRequest) {
  ObservedOptions options{{"x", "y"}, {}};
  options.missing = MissingRows::drop;
  const auto summary = [&](const std::string& path) {
    return read_observed(path, options, [](const ObservedSets&) {});
  };
  for (const char* order : {"dataset,x,y\ns,1,2\ns,NA,4\ns,5,6\nt,,8\nt,9,\nu,1,1\n",        // together
                            "dataset,x,y\ns,1,2\nt,,8\ns,NA,4\nu,1,1\nt,9,NaN\ns,5,6\n"}) {  // scattered
    const auto path = file("a.csv", order);
    EXPECT_EQ(read(path, options), (Sets{{"s", {1, 2, 5, 6}}, {"u", {1, 1}}}));
    EXPECT_EQ(summary(path).dropped_rows, 3);
    EXPECT_EQ(summary(path).lost_sets, std::vector<std::string>{"t"});
  }
  EXPECT_THROW(read(file("b.csv", "x,y\n1,abc\n"), options), Error);
  EXPECT_THROW(read(file("c.csv", "x,y\n1,Inf\n"), options), Error);
  const std::vector<float> values = {1, 2, NAN, 4};
  write_npy(folder_ / "d.npy", ArrayView::of<float>({2, 2}, std::span<const float>(values)));
  EXPECT_EQ(read(folder_ / "d.npy", options), (Sets{{"d", {1, 2}}}));
}

// With NaN written as -1, which compares equal to itself.
Sets marked(Sets sets) {
  for (auto& [id, values] : sets) {
    for (float& value : values) value = std::isnan(value) ? -1.0f : value;
  }
  return sets;
}

TEST_F(Observed, MissingValuesAreKeptWhereTheyMayBe) {
  ObservedOptions options{{"x", "y"}, {}};
  options.may_miss = {1};
  options.missing_advice = "declare missing for column '{}'";
  const auto path = file("a.csv", "x,y\n1,NA\n2,\n3,NaN\n4,5\n");
  EXPECT_EQ(marked(read(path, options)), (Sets{{"a", {1, -1, 2, -1, 3, -1, 4, 5}}}));
  const auto refusal = [&](const std::string& name) -> std::string {
    try {
      read(name, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_data);
      return error.what();
    }
    return "accepted";
  };
  const std::string said = refusal(file("b.csv", "x,y\n1,NA\nNA,2\n"));
  EXPECT_NE(said.find(":3: column 'x': the value is missing ('NA'); declare missing for column 'x'"),
            std::string::npos)
      << said;
  EXPECT_NE(refusal(file("c.csv", "x,y\n1,Inf\n")).find("not a finite number"), std::string::npos);
  // Nothing can be trained for rows that do not say what they are.
  options.given = {0};
  EXPECT_EQ(refusal(file("b.csv", "x,y\n1,NA\nNA,2\n")), said);
  options.given_advice = "every row needs '{}'";
  const std::string unknown = refusal(file("b.csv", "x,y\n1,NA\nNA,2\n"));
  EXPECT_NE(unknown.find("the value is missing ('NA'); every row needs 'x'"), std::string::npos) << unknown;
  const std::vector<float> values = {1, NAN, NAN, 4};
  write_npy(folder_ / "d.npy", ArrayView::of<float>({2, 2}, std::span<const float>(values)));
  EXPECT_NE(refusal(folder_ / "d.npy").find("element 2 is nan"), std::string::npos);
  // Rows are dropped only for columns in which nothing may be missing.
  options.missing = MissingRows::drop;
  EXPECT_EQ(marked(read(folder_ / "d.npy", options)), (Sets{{"d", {1, -1}}}));
  EXPECT_EQ(marked(read(folder_ / "b.csv", options)), (Sets{{"b", {1, -1}}}));
}

// Nobody is called "NA": whose such a row is, is not known.
TEST_F(Observed, RowsOfNobodyAreRefusedOrLeftOut) {
  ObservedOptions options{{"x"}, {"who"}};
  options.group = "clinic";
  options.nameless_advice = "fill in '{}'";
  const auto refusal = [&](const std::string& text) {
    return testing_support::failure_of([&] { read(file("a.csv", "who,clinic,x\n" + text), options); });
  };
  for (const std::string cell : {"NA", "", "NaN", " nan "}) {
    std::string said = refusal("ann,A,1\n" + cell + ",A,2\n");
    EXPECT_NE(said.find("a.csv:3: column 'who': the "), std::string::npos) << said;
    EXPECT_NE(said.find(", so the row is of no data set; fill in 'who'"), std::string::npos) << said;
    said = refusal("ann,A,1\nben," + cell + ",2\n");
    EXPECT_NE(said.find("a.csv:3: column 'clinic': the "), std::string::npos) << said;
    EXPECT_NE(said.find(", so data set 'ben' is of no group; fill in 'clinic'"), std::string::npos) << said;
  }
  options.missing = MissingRows::drop;
  const auto scattered = file("b.csv", "who,clinic,x\nann,A,1\nNA,A,2\nben,B,3\nann,,4\nann,A,5\n");
  EXPECT_EQ(read(scattered, options), (Sets{{"ann", {1, 5}}, {"ben", {3}}}));
  const auto summary = read_observed(scattered, options, [](const ObservedSets&) {});
  EXPECT_EQ(summary.dropped_rows, 2);
  EXPECT_EQ(read(file("c.csv", "who,clinic,x\nNA,A,1\n"), options), Sets());
}

// As in headers, blanks around a name are nothing that anybody meant.
TEST_F(Observed, BlanksAroundNamesTellNobodyApart) {
  ObservedOptions options{{"x"}, {"who"}};
  const auto path = file("a.csv", "who,x\n1,1\n 1,2\n1 ,3\n\" 1\",4\n");
  EXPECT_EQ(read(path, options), (Sets{{"1", {1, 2, 3}}, {" 1", {4}}}));
}

TEST_F(Observed, ValuesOutsideTheTrainedRangeAreNamed) {
  NetworkFile network;
  network.columns = {"x", "rt"};
  network.ranges = {{0, 1, 0, 1}, {0.2, 8, 0.25, 6}};
  RangeCheck check(network);
  const std::vector<float> values = {0, 0.5f, 1, 640, 0, 0.1f, 1, 3};
  const std::vector<std::int64_t> offsets = {0, 2, 4};
  check.add({"anna", "bob"}, {{values.data(), 4, 2, 2}, offsets.data(), 2});
  ASSERT_EQ(check.warnings().size(), 1u);
  EXPECT_EQ(check.warnings()[0].find(
                "column 'rt': 2 of 4 values lie outside what the network was trained on (0.2 to 8,"),
            0u)
      << check.warnings()[0];
  EXPECT_NE(check.warnings()[0].find("the furthest is 640 in data set 'anna'"), std::string::npos);
  // Doses drawn from 1 on never are quite 1, and yet 1 is what a first dose is; a column of 0 and 1 has no
  // such ends.
  network.columns = {"dose", "rt"};
  network.ranges = {{1.00001, 9.9999, 1.0098, 9.991}, {0, 1, 0, 1}};
  RangeCheck ends(network);
  const std::vector<float> doses = {1, 0, 10, 1, 9.9999f, 0, 5, 1};
  ends.add({"anna", "bob"}, {{doses.data(), 4, 2, 2}, offsets.data(), 2});
  EXPECT_TRUE(ends.warnings().empty()) << ends.warnings()[0];
  const std::vector<float> below = {0.98f, 0, 10, 1.001f, 9.9999f, 0, 5, 1};
  ends.add({"anna", "bob"}, {{below.data(), 4, 2, 2}, offsets.data(), 2});
  EXPECT_EQ(ends.warnings().size(), 2u);
  network.columns = {"x", "rt"};
  network.ranges = {{0, 1, 0, 1}, {0.2, 8, 0.25, 6}};
  network.labels = {{1}};  // the numbers of labels are no amounts
  RangeCheck labels(network);
  EXPECT_EQ(labels.add({"anna", "bob"}, {{values.data(), 4, 2, 2}, offsets.data(), 2})[0], "");
  EXPECT_TRUE(labels.warnings().empty());
  network.labels.clear();
  network.ranges.clear();  // a file of before
  RangeCheck none(network);
  none.add({"anna", "bob"}, {{values.data(), 4, 2, 2}, offsets.data(), 2});
  EXPECT_TRUE(none.warnings().empty());
}

// Means of two counts lie within the range of counts.
TEST_F(Observed, ValuesThatAreNotWholeAreNamedWhereAllWere) {
  NetworkFile network;
  network.columns = {"count", "rt"};
  network.ranges = {{0, 20, 0, 20}, {0, 8, 0.25, 6}};
  const std::vector<float> values = {4, 0.5f, 4.5f, 1, 6.5f, 0.1f, NAN, 3};
  const std::vector<std::int64_t> offsets = {0, 2, 4};
  const auto notes = [&](RangeCheck& check) {
    return check.add({"anna", "bob"}, {{values.data(), 4, 2, 2}, offsets.data(), 2});
  };
  RangeCheck unknown(network);  // a file of before
  EXPECT_EQ(notes(unknown)[0], "");
  network.record = {{"whole_columns", {0, 7, "x"}}};
  RangeCheck check(network);
  EXPECT_EQ(notes(check)[0], "1 of 2 values of count not whole, as all in training were");
  ASSERT_EQ(check.warnings().size(), 1u);
  EXPECT_NE(check.warnings()[0].find("column 'count': 2 of 3 values are no whole numbers"),
            std::string::npos);
  EXPECT_NE(check.warnings()[0].find("the first is 4.5 in data set 'anna'"), std::string::npos);
}

TEST_F(Observed, ChunksAreBoundedAndLoseNothing) {
  std::string text = "dataset,x\n";
  for (int i = 0; i < 1000; ++i) text += std::to_string(i / 3) + "," + std::to_string(i) + "\n";
  ObservedOptions options{{"x"}, {}};
  options.chunk_sets = 10;
  options.chunk_rows = 20;
  std::int64_t sets = 0;
  std::int64_t rows = 0;
  read_observed(file("a.csv", text), options, [&](const ObservedSets& some) {
    const Ragged<const float> data = some.data;
    EXPECT_LE(data.sets, 10);
    EXPECT_LE(data.x.rows, 22);
    EXPECT_EQ(data.x.row(0)[0], static_cast<float>(rows));
    sets += data.sets;
    rows += data.x.rows;
  });
  EXPECT_EQ(sets, 334);
  EXPECT_EQ(rows, 1000);
}

TEST_F(Observed, NumpyArrays) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto view = [&](Shape shape) {
    return ArrayView::of<float>(std::move(shape), std::span<const float>(values));
  };
  write_npy((folder_ / "one.npy"), view({4, 2}));
  EXPECT_EQ(read((folder_ / "one.npy"), xy_), (Sets{{"one", values}}));
  write_npy((folder_ / "two.npy"), view({2, 2, 2}));
  EXPECT_EQ(read((folder_ / "two.npy"), xy_), (Sets{{"0", {1, 2, 3, 4}}, {"1", {5, 6, 7, 8}}}));
  NpzWriter writer((folder_ / "z.npz"));
  writer.add("subject_a", view({4, 2}));
  writer.commit();
  EXPECT_EQ(read((folder_ / "z.npz"), xy_), (Sets{{"subject_a", values}}));
  NpzWriter packed((folder_ / "p.npz"));
  const std::vector<std::int64_t> n = {1, 3};
  packed.add("data", view({4, 2}));
  packed.add("n", ArrayView::of<std::int64_t>({2}, std::span<const std::int64_t>(n)));
  packed.commit();
  EXPECT_EQ(read((folder_ / "p.npz"), xy_), (Sets{{"0", {1, 2}}, {"1", {3, 4, 5, 6, 7, 8}}}));
  write_npy((folder_ / "bad.npy"), view({8}));
  EXPECT_THROW(read((folder_ / "bad.npy"), xy_), Error);
}

TEST_F(Observed, BadDataNameTheirPlace) {
  const auto message = [&](const std::string& path) -> std::string {
    try {
      read(path, xy_);
    } catch (const Error& error) {
      return std::to_string(exit_code(error.kind())) + " " + error.what();
    }
    return "accepted";
  };
  const auto expect = [&](const std::string& text, const std::string& part) {
    const std::string got = message(file("d.csv", text));
    EXPECT_NE(got.find(part), std::string::npos) << got;
    EXPECT_EQ(got.substr(0, 2), "65") << got;
  };
  expect("x,z\n1,2\n", "'y'");
  expect("x,y\n1,2\n3,abc\n", "d.csv:3: column 'y': 'abc'");
  expect("x,y\n1,NaN\n", "d.csv:2");
  expect("x,y\n1,\n", "d.csv:2");
  expect("x,y\n", "no data");
  expect("", "d.csv");
  expect("x,y\n1e300,2\n", "too large");
  EXPECT_EQ(message((folder_ / "none.csv")).substr(0, 2), "66");
}

}  // namespace
}  // namespace occam
