// Values of every shape, saved and loaded: equal, or one diagnostic.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "ir/io/data_files.h"
#include "ir/value/value.h"
#include "session/run/execution.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

namespace fs = std::filesystem;

/// A type with a value of it, and how a file holds it.
struct Stored {
  std::string type, value;
  size_t tensors = 0;
  bool has_bfloat = false;
  std::string fault = {};  ///< why no file can hold it: part of the message
};

class StoredValues : public testing::Test {
 protected:
  /// The errors of a program that runs as far as it gets, and the values of its statements.
  std::vector<std::string> run(const std::string& text, std::vector<std::string>* values = nullptr) {
    const ModuleId module = session_.make_module();
    const SourceId source = session_.add_source(module, "test.relay", text, folder_.string());
    std::vector<std::string> errors;
    for (const LocatedDiagnostic& d : session_.check(source))
      if (severity_of(d.kind) == Severity::Error) errors.push_back(d.message);
    if (!errors.empty()) return errors;
    Execution execution(session_, module, {.interpret = true}, [](std::string_view) {});
    for (DeclarationId statement : session_.statements(source)) {
      const StatementResult result = execution.run(statement);
      if (result.failure) return {result.failure->message};
      if (values) values->push_back(to_json(*result.value));
    }
    return {};
  }

  void expect_one(const std::string& text, const std::string& what) {
    const std::vector<std::string> errors = run(text);
    ASSERT_EQ(errors.size(), 1U) << text << "\n" << fmt::format("{}", fmt::join(errors, "\n"));
    EXPECT_NE(errors[0].find(what), std::string::npos) << text << "\n" << errors[0];
  }

  void expect_stored(const std::string& declarations, const Stored& one) {
    for (const std::string ending : {"npy", "npz", "safetensors"}) {
      const std::string file = "x." + ending;
      const std::string save =
          fmt::format("{}\nlet %x: {} = {};\nsave(\"{}\", %x);\n", declarations, one.type, one.value, file);
      const std::string load = fmt::format("let %y: {} = load(\"{}\");\n", one.type, file);
      if (!one.fault.empty()) {
        expect_one(save, one.fault);
        expect_one(fmt::format("{}\n{}", declarations, load), one.fault);
      } else if (ending == "npy" && one.tensors != 1) {
        expect_one(save, fmt::format("one tensor, not {}", one.tensors));
      } else if (ending != "safetensors" && one.has_bfloat) {
        expect_one(save, "bfloat16 has no NumPy dtype");
      } else {
        std::vector<std::string> values;
        const std::vector<std::string> errors = run(save + load, &values);
        ASSERT_TRUE(errors.empty()) << save << load << errors[0];
        EXPECT_EQ(values.front(), values.back()) << save << load;
      }
    }
  }

  const TemporaryFolder folder_;
  Session session_;
};

const char* const kStoredTypes = R"(
type Point { Point(x: float32, y: float32) }
type Plain { Plain(int32, bool) }
type Pair[a, b] { Pair(first: a, second: (b, a)) }
type Nothing { Nothing }
type Choice { Left(int32), Right(float32) }
type Chain { Chain(value: float32, next: Chain) }
type Even { Even(odd: Odd) }
type Odd { Odd(even: Even) }
type Growing[a] { Growing(value: a, more: Growing[(a, a)]) }
type Deep { Deep(inner: Pair[Point, Pair[int32, Plain]], flag: bool) }
)";

TEST_F(StoredValues, OfEveryShapeAreEqualOrRefused) {
  const std::vector<Stored> rows{
      {"float32", "1.5", 1},
      {"Tensor[(2, 0, 3), int64]", "zeros(shape=(2, 0, 3), dtype=\"int64\")", 1},
      {"(float32,)", "(1.5,)", 1},
      {"()", "()", 0},
      {"((int32, ()), (bool, (float64,)))", "((1, ()), (True, (2f64,)))", 3},
      {"Point", "Point(1, 2)", 2},
      {"Plain", "Plain(1, True)", 2},
      {"Nothing", "Nothing", 0},
      {"Pair[int32, (float32, bool)]", "Pair(1, ((2f, True), 3))", 4},
      {"Pair[Point, Plain]", "Pair(Point(1, 2), (Plain(3, False), Point(4, 5)))", 6},
      {"Deep", "Deep(Pair(Point(1, 2), (Pair(3, (Plain(4, True), 5)), Point(6, 7))), False)", 9},
      {"Choice", "Left(1)", 0, false, "`Choice` has several constructors"},
      {"(int32, Choice)", "(1, Right(2.0))", 0, false, "`Choice` has several constructors"},
      {"Pair[int32, Choice]", "Pair(1, (Left(2), 3))", 0, false, "`Choice` has several constructors"},
      {"List[int32]", "Cons(1, Nil)", 0, false, "`List` has several constructors"},
      {"Option[int32]", "Some(1)", 0, false, "`Option` has several constructors"},
      {"Ref[int32]", "ref(1)", 0, false, "is a reference"},
      {"(int32, Ref[int32])", "(1, ref(1))", 0, false, "is a reference"},
      {"fn (int32) -> int32", "fn (%v: int32) -> int32 { %v }", 0, false, "is a function"},
      {"Pair[int32, fn () -> int32]", "Pair(1, (fn () -> int32 { 1 }, 2))", 0, false, "is a function"},
  };
  for (const Stored& one : rows) expect_stored(kStoredTypes, one);
  for (const char* dtype : {"float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64",
                            "uint8", "uint16", "uint32", "uint64", "bool"})
    expect_stored("", {fmt::format("Tensor[(2, 2), {}]", dtype),
                       fmt::format("cast([[1, 0], [2, 3]], dtype=\"{}\")", dtype), 1,
                       dtype == std::string("bfloat16")});
}

TEST_F(StoredValues, ThatContainThemselvesAreRefusedAtTheAnnotation) {
  for (const char* type : {"Chain", "Even", "Growing[int32]", "(int32, Pair[int32, Odd])"}) {
    const std::string text = fmt::format("{}let %x: {} = load(\"x.npz\");", kStoredTypes, type);
    expect_one(text, "contains itself");
    const SourceId source = session_.add_source(session_.make_module(), "test.relay", text, folder_.string());
    const LocatedDiagnostic found = session_.check(source).at(0);
    EXPECT_EQ(text.substr(found.range.begin, found.range.end - found.range.begin), type);
  }
}

TEST_F(StoredValues, OfAnyTypeAreSavedByWhatTheyAre) {
  const std::string keep = std::string(kStoredTypes) + "def @keep[a](%x: a) { save(\"any.npz\", %x) }\n";
  std::vector<std::string> values;
  const auto errors =
      run(keep + "@keep(Pair(1, (2f, 3)));\nlet %x: Pair[int32, float32] = load(\"any.npz\");", &values);
  ASSERT_TRUE(errors.empty()) << errors[0];
  EXPECT_EQ(values.back(), R"({"ctor": "Pair", "fields": [1, [2.0, 3]]})");
  expect_one(keep + "@keep(Left(1))", "`Left` is one of several constructors");
  expect_one(keep + "@keep((1, ref(2)))", "a function or a reference");
}

/// Types at random, with a value of each.
class RandomStored {
 public:
  explicit RandomStored(uint64_t seed) : engine_(seed) {}

  std::string declarations;

  Stored make(int depth) {
    switch (below(depth > 0 ? 12 : 5)) {
      case 5:
      case 6:
      case 7: return parts(depth, "(", ")", "(", ")", "", "");
      case 8:
      case 9: return record(depth);
      case 10: return generic(depth);
      case 11: {
        Stored content = make(0);
        if (below(2) != 0) return content;
        return {"Ref[" + content.type + "]", "ref(" + content.value + ")", 0, false, " "};
      }
      default: return tensor();
    }
  }

 private:
  size_t below(size_t bound) { return engine_() % bound; }

  Stored tensor() {
    static const std::vector<std::string> kDTypes{"float16", "bfloat16", "float32", "float64", "int8",
                                                  "int16",   "int32",    "int64",   "uint8",   "uint16",
                                                  "uint32",  "uint64",   "bool"};
    const std::string& dtype = kDTypes[below(kDTypes.size())];
    const bool has_bfloat = dtype == "bfloat16";
    const std::string number = std::to_string(below(9));
    if (below(3) == 0) return {dtype, fmt::format("cast({}, dtype=\"{}\")", number, dtype), 1, has_bfloat};
    std::string dims, binders, sum = number;
    for (size_t i = below(3) + 1; i > 0; --i) {
      const size_t extent = below(4);
      dims += fmt::format("{}, ", extent);
      binders += fmt::format("{}i{} < {}", binders.empty() ? "" : ", ", i, extent);
      sum += fmt::format(" + {} * i{}", i * i, i);
    }
    return {fmt::format("Tensor[({}), {}]", dims, dtype),
            fmt::format("cast([{}] => cast<int32>({}), dtype=\"{}\")", binders, sum, dtype), 1, has_bfloat};
  }

  /// Some parts together: `type_open` T, T `type_close`, the values likewise.
  Stored parts(int depth, const std::string& type_open, const std::string& type_close,
               const std::string& open, const std::string& close, const std::string& type_name,
               const std::string& name) {
    Stored all{type_name + type_open, name + open};
    for (size_t i = below(4) + (name.empty() ? 0 : 1); i > 0; --i) {
      const Stored part = make(depth - 1);
      all.type += part.type + ", ";
      all.value += part.value + ", ";
      all.tensors += part.tensors;
      all.has_bfloat |= part.has_bfloat;
      if (!part.fault.empty()) all.fault = part.fault;
    }
    all.type += type_close;
    all.value += close;
    return all;
  }

  Stored record(int depth) {
    const std::string name = fmt::format("R{}", counter_++);
    const Stored fields = make(depth - 1), more = make(depth - 1);
    const bool named = below(2) == 0;
    const bool several = below(6) == 0;
    declarations +=
        fmt::format("type {0} {{ {0}({1}{2}, {3}{4}){5} }}\n", name, named ? "a: " : "", fields.type,
                    named ? "b: " : "", more.type, several ? fmt::format(", N{}", name) : "");
    Stored all{name, fmt::format("{}({}, {})", name, fields.value, more.value), fields.tensors + more.tensors,
               fields.has_bfloat || more.has_bfloat, fields.fault + more.fault};
    if (several) all.fault = " ";
    return all;
  }

  Stored generic(int depth) {
    const std::string name = fmt::format("G{}", counter_++);
    const Stored a = make(depth - 1), b = make(depth - 1);
    declarations += fmt::format("type {0}[s, t] {{ {0}(one: t, two: (s, (t,))) }}\n", name);
    return {fmt::format("{}[{}, {}]", name, a.type, b.type),
            fmt::format("{0}({2}, ({1}, ({2},)))", name, a.value, b.value), a.tensors + 2 * b.tensors,
            a.has_bfloat || b.has_bfloat, a.fault + b.fault};
  }

  std::mt19937_64 engine_;
  int counter_ = 0;
};

TEST_F(StoredValues, OfRandomTypesAreEqualOrRefused) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    RandomStored random(seed);
    Stored one = random.make(3);
    if (!one.fault.empty()) one.fault = "a file has tensors under names";
    SCOPED_TRACE(seed);
    expect_stored(random.declarations, one);
  }
}

/// Bytes that this process has read so far.
uint64_t bytes_read() {
  std::ifstream counters("/proc/self/io");
  std::string name;
  uint64_t count = 0;
  counters >> name >> count;
  EXPECT_EQ(name, "rchar:");
  return count;
}

TEST_F(StoredValues, AreReadAloneByName) {
  constexpr size_t kEntries = 200, kElements = 10'000;
  Entries<TensorPtr> entries;
  for (size_t i = 0; i < kEntries; ++i) {
    TensorPtr tensor = HostTensor::make(DType::float32(), {kElements});
    std::ranges::fill(tensor->elements<float>(), static_cast<float>(i));
    entries.emplace_back(fmt::format("layer{}", i), tensor);
  }
  for (const char* name : {"many.npz", "many.safetensors"}) {
    ASSERT_TRUE(write_tensors((folder_ / name).string(), entries));
    // Long enough ago that another change would show.
    fs::last_write_time(folder_ / name, fs::file_time_type::clock::now() - std::chrono::seconds(10));
    std::string text;
    for (size_t i = 0; i < kEntries; ++i)
      text += fmt::format("let %v{0} = load(\"{1}\", \"layer{0}\");\n", i, name);
    const uint64_t before = bytes_read();
    std::vector<std::string> values;
    const auto errors = run(text, &values);
    ASSERT_TRUE(errors.empty()) << errors[0];
    EXPECT_EQ(values.size(), kEntries);
    EXPECT_LT(bytes_read() - before, 2 * fs::file_size(folder_ / name)) << name;
  }
}

TEST_F(StoredValues, AreThoseOfTheFileOfNow) {
  for (const char* name : {"now.npy", "now.npz", "now.safetensors"}) {
    for (const char* number : {"1.0", "2.0", "3.0"}) {
      std::vector<std::string> values;
      const auto errors =
          run(fmt::format("save(\"{0}\", {1});\nlet %x: float32 = load(\"{0}\");", name, number), &values);
      ASSERT_TRUE(errors.empty()) << errors[0];
      EXPECT_EQ(values.back(), number) << name;
    }
  }
}

}  // namespace
}  // namespace quern
