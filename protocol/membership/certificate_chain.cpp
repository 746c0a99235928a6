#include "protocol/membership/certificate_chain.hpp"

#include <algorithm>

namespace holdfast::protocol {

CertificateChain::CertificateChain(const NodeSetup& setup) {
  Configuration first{1, {}, setup.options.ringVersion, {}};
  for (const NodeId node : setup.members) first.members.push_back({node, 0});
  std::sort(first.members.begin(), first.members.end());
  links_.push_back({{Ballot{}, std::move(first), Duration{}}, {}});
}

bool CertificateChain::restore(const std::vector<Certificate>& durable) {
  // A node that joined later has not written the first configuration: it is told it again.
  const std::size_t first = durable.empty() ? 0 : durable.front().number();
  if (first != 1 && first != 2) return false;
  for (std::size_t i = 0; i < durable.size(); ++i) {
    if (durable[i].number() != first + i) return false;
  }
  links_.resize(first - 1);
  links_.insert(links_.end(), durable.begin(), durable.end());
  return true;
}

const Configuration* CertificateChain::predecessor() const {
  return links_.size() < 2 ? nullptr : &links_[links_.size() - 2].value.configuration;
}

const Configuration* CertificateChain::at(MembershipNumber number) const {
  return number == 0 || number > links_.size() ? nullptr : &links_[number - 1].value.configuration;
}

std::vector<NodeId> CertificateChain::formerMembers() const {
  std::vector<NodeId> former;
  const std::vector<NodeId>& dismissed = current().dismissed;
  for (const Certificate& link : links_) {
    const bool latest = &link.value.configuration == predecessor();
    for (const Member& member : link.value.configuration.members) {
      const bool over = std::binary_search(dismissed.begin(), dismissed.end(), member.node) && !latest;
      if (!current().contains(member.node) && !over) former.push_back(member.node);
    }
  }
  std::sort(former.begin(), former.end());
  former.erase(std::unique(former.begin(), former.end()), former.end());
  return former;
}

bool CertificateChain::everMember(NodeId node) const {
  return std::any_of(links_.begin(), links_.end(),
                     [&](const Certificate& link) { return link.value.configuration.contains(node); });
}

void CertificateChain::rewindBefore(MembershipNumber number) {
  if (number > 1 && number <= links_.size()) links_.resize(number - 1);
}

std::vector<Certificate> CertificateChain::after(MembershipNumber number) const {
  // The first configuration is nobody's to send: whoever takes part knows it.
  const std::size_t from = std::max<std::size_t>(number, 1);
  if (from >= links_.size()) return {};
  const std::size_t to = std::min(links_.size(), from + kMaxCertificatesPerMessage);
  return {links_.begin() + static_cast<std::ptrdiff_t>(from),
          links_.begin() + static_cast<std::ptrdiff_t>(to)};
}

void CertificateChain::addTo(StateHash& hash) const {
  hash.add(static_cast<std::uint64_t>(links_.size()));
  // What lies further back is only passed on.
  hash.add(links_.back());
  if (const Configuration* before = predecessor()) hash.add(*before);
}

}  // namespace holdfast::protocol
