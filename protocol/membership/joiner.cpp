#include "protocol/membership/joiner.hpp"

#include <algorithm>

namespace holdfast::protocol {

void Joiner::begin(obs::JoiningReason why, std::uint32_t identity, const MembershipEnv& env) {
  joining_ = true;
  env.observe(obs::MembershipJoining{why, identity});
}

void Joiner::heard(NodeId from, MembershipNumber head, std::uint64_t answers, const Configuration& current,
                   const MembershipEnv& env) {
  if (!joining_ || answers != start_ || head > current.number || !current.contains(from)) return;
  answered_.insert(from);
  std::size_t known = 0;
  for (const Member& member : current.members) {
    // A configuration that admits this node counts the node itself.
    known += answered_.contains(member.node) || member.node == env.self() ? 1U : 0U;
  }
  if (known >= current.majority()) joining_ = false;
}

void Joiner::ask(const Configuration& current, std::uint32_t identity, bool join,
                 const MembershipEnv& env) const {
  NodeSet asked;
  const auto query = [&](NodeId node) {
    if (node == env.self() || asked.contains(node)) return;
    asked.insert(node);
    env.send(node, MembershipQuery{current.number, identity, join, start_});
  };
  for (const Member& member : current.members) query(member.node);
  for (const NodeId founder : env.setup.members) query(founder);
}

void Candidates::note(Member member, bool wantsIn, const MembershipEnv& env) {
  const auto at = std::lower_bound(candidates_.begin(), candidates_.end(), member.node,
                                   [](const Candidate& c, NodeId node) { return c.member.node < node; });
  const Candidate candidate{member, wantsIn, env.now() + env.options().renewEvery * 3};
  if (at == candidates_.end() || at->member.node != member.node) {
    candidates_.insert(at, candidate);
  } else if (member.identity >= at->member.identity) {
    *at = candidate;  // an older identity's question was only late
  }
}

void Candidates::forget(const Configuration& members) {
  std::erase_if(candidates_, [&](const Candidate& c) { return members.contains(c.member); });
}

std::optional<std::uint32_t> Candidates::identityOf(NodeId node) const {
  for (const Candidate& candidate : candidates_) {
    if (candidate.member.node == node) return candidate.member.identity;
  }
  return std::nullopt;
}

const Member* Candidates::find(NodeId node, const MembershipEnv& env) const {
  const auto found = std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& c) {
    return c.member.node == node && env.now() < c.freshUntil;
  });
  return found == candidates_.end() ? nullptr : &found->member;
}

std::vector<Member> Candidates::wantingIn(const MembershipEnv& env) const {
  std::vector<Member> wanting;
  for (const Candidate& candidate : candidates_) {
    if (candidate.wantsIn && env.now() < candidate.freshUntil) wanting.push_back(candidate.member);
  }
  return wanting;
}

void Candidates::addTo(StateHash& hash) const {
  for (const Candidate& candidate : candidates_) {
    hash.add(candidate.member);
    hash.add(static_cast<std::uint64_t>(candidate.wantsIn));
    hash.add(candidate.freshUntil);
  }
}

}  // namespace holdfast::protocol
