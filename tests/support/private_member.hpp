// SPDX-License-Identifier: Apache-2.0
#pragma once

// Private members, for tests that damage what nobody can: an explicit instantiation may name them.
//
//   struct ZombieCount {
//     using Type = std::size_t ScopeBase::*;
//     friend Type private_member(ZombieCount);
//   };
//   template struct test::PrivateMember<ZombieCount, &ScopeBase::zombies_>;
//   ... ++(scope.*private_member(ZombieCount{}));

namespace fermata::test {

template <class Tag, typename Tag::Type kMember>
struct PrivateMember {
  friend typename Tag::Type private_member(Tag) { return kMember; }
};

}  // namespace fermata::test
