// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/loop_arm.hpp"
#include "fermata/base/function_ref.hpp"

#include <gtest/gtest.h>

#include <span>

#include "fermata/base/error.hpp"
#include "fermata/io/descriptor.hpp"

namespace fermata::conformance {

StreamPair LoopArm::stream_pair() {
  const DescriptorPair pair = descriptor_calls().open_pair();
  return {keep(pair.first), keep(pair.second)};
}

void LoopArm::write(int descriptor, std::string_view bytes) {
  const auto written = descriptor_calls().write(descriptor, std::as_bytes(std::span(bytes)));
  EXPECT_EQ(written.code, 0);
  EXPECT_EQ(written.size, bytes.size());
}

std::string LoopArm::read(int descriptor, std::size_t limit) {
  std::string bytes(limit, '\0');
  const auto read = descriptor_calls().read(descriptor, std::as_writable_bytes(std::span(bytes)));
  if (read.code != 0) throw InputOutputError("read a stream", read.code);
  bytes.resize(read.size);
  return bytes;
}

void LoopArm::close(int descriptor) {
  EXPECT_EQ(std::erase(open_, descriptor), 1u);
  EXPECT_EQ(descriptor_calls().close(descriptor), 0);
}

int LoopArm::keep(int descriptor) {
  open_.push_back(descriptor);
  return descriptor;
}

void LoopArm::with_loop(const loop::LoopOptions& options, detail::FunctionRef<void()> body) {
  const auto closing = [this](LoopArm*) { close_all(); };
  const std::unique_ptr<LoopArm, decltype(closing)> close_after(this, closing);
  loop::Loop loop(options);
  loop_ = &loop;
  body();
}

void LoopArm::close_all() noexcept {
  for (const int descriptor : open_) descriptor_calls().close(descriptor);
  open_.clear();
}

}  // namespace fermata::conformance
