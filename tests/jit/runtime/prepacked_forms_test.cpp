// Prepacked forms: which is found, and when they are released.

#include "jit/runtime/prepacked_forms.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "jit/codegen/codegen.h"

namespace quern {
namespace {

class Prepacked : public ::testing::Test {
 protected:
  static TensorPtr tensor(int64_t extent) { return HostTensor::zeros(DType::float32(), {extent}); }
  void expect_kept(size_t count, size_t bytes) const {
    EXPECT_EQ(forms.size().count, count);
    EXPECT_EQ(forms.size().bytes, bytes);
  }

  PrepackedForms forms;
  const std::shared_ptr<CompiledKernel> maker = std::make_shared<CompiledKernel>(),
                                        other = std::make_shared<CompiledKernel>();
};

TEST_F(Prepacked, FormsAreKeptApart) {
  const TensorPtr weight = HostTensor::zeros(DType::float32(), {2, 3}), beside = tensor(6);
  const std::vector<int64_t> dims{2, 3}, others{3, 2};
  EXPECT_EQ(forms.find(*weight, *maker, dims), nullptr);
  const TensorPtr form = tensor(6), second = tensor(8);
  EXPECT_EQ(&forms.keep(*weight, maker, dims, form), form.get());
  EXPECT_EQ(forms.find(*weight, *maker, dims), form.get());
  EXPECT_EQ(forms.find(*weight, *maker, others), nullptr);
  EXPECT_EQ(forms.find(*weight, *other, dims), nullptr);
  EXPECT_EQ(forms.find(*beside, *maker, dims), nullptr);
  forms.keep(*weight, maker, others, second);
  EXPECT_EQ(forms.find(*weight, *maker, others), second.get());
  EXPECT_EQ(forms.find(*HostTensor::view(weight, {3, 2}), *maker, dims), form.get()) << "the same memory";
  expect_kept(2, (6 + 8) * 4);
}

TEST_F(Prepacked, TheFirstOfTwoEqualFormsIsKept) {
  const TensorPtr weight = tensor(4), form = tensor(4);
  forms.keep(*weight, maker, {}, form);
  EXPECT_EQ(&forms.keep(*weight, maker, {}, tensor(4)), form.get());
  expect_kept(1, 16);
}

TEST_F(Prepacked, FormsGoWithTheMemoryOfTheirTensor) {
  TensorPtr weight = tensor(4), view = HostTensor::view(weight, {2, 2});
  TensorPtr form = tensor(4);
  const std::weak_ptr<HostTensor> watched = form;
  // A form of a form, as for weights that are transformed first.
  forms.keep(*form, other, {}, tensor(8));
  forms.keep(*view, maker, {}, std::move(form));
  const TensorPtr beside = tensor(4);
  forms.keep(*beside, maker, {}, tensor(2));
  weight.reset();
  expect_kept(3, (4 + 8 + 2) * 4);
  view.reset();
  EXPECT_TRUE(watched.expired());
  expect_kept(1, 8);
}

TEST_F(Prepacked, ATensorAtTheAddressOfADeadOneHasNoForms) {
  alignas(HostTensor) std::byte place[sizeof(HostTensor)];
  for (int k = 0; k < 2; ++k) {
    auto* weight = new (place) HostTensor(DType::float32(), {4});
    EXPECT_EQ(forms.find(*weight, *maker, {}), nullptr);
    forms.keep(*weight, maker, {}, tensor(4));
    std::destroy_at(weight);
  }
}

TEST_F(Prepacked, FormsGoWithTheirTable) {
  const TensorPtr weight = tensor(4);
  const TensorPtr kept = tensor(4);
  forms.keep(*weight, maker, {}, kept);
  TensorPtr form = tensor(4);
  const std::weak_ptr<HostTensor> watched = form;
  {
    PrepackedForms shorter;
    EXPECT_EQ(shorter.find(*weight, *maker, {}), nullptr);
    shorter.keep(*weight, maker, {}, std::move(form));
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(forms.find(*weight, *maker, {}), kept.get());
}

TEST_F(Prepacked, ThreadsShareThem) {
  const TensorPtr shared = tensor(16);
  const auto work = [&] {
    for (int k = 0; k < 500; ++k) {
      if (!forms.find(*shared, *maker, {})) forms.keep(*shared, maker, {}, tensor(4));
      const TensorPtr own = tensor(4);
      const TensorPtr form = tensor(4);
      EXPECT_EQ(&forms.keep(*own, maker, {}, form), form.get());
      EXPECT_EQ(forms.find(*own, *maker, {}), form.get());
    }
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
  expect_kept(1, 16);
}

}  // namespace
}  // namespace quern
