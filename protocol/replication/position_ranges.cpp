#include "protocol/replication/position_ranges.hpp"

#include <algorithm>

namespace holdfast::protocol {

void insertRange(std::vector<PositionRange>& ranges, PositionRange range) {
  // [first, last) overlap or touch the new range. Written without + 1 on the upper ends, which may be the
  // greatest position there is.
  const auto first = std::find_if(ranges.begin(), ranges.end(), [&](const PositionRange& r) {
    return r.to >= range.from || r.to == range.from - 1;
  });
  auto last = first;
  while (last != ranges.end() && (last->from <= range.to || last->from - 1 == range.to)) {
    range.from = std::min(range.from, last->from);
    range.to = std::max(range.to, last->to);
    ++last;
  }
  if (first == last) {
    ranges.insert(first, range);
  } else {
    *first = range;
    ranges.erase(first + 1, last);
  }
}

bool removePosition(std::vector<PositionRange>& ranges, Position position) {
  const auto at = std::find_if(ranges.begin(), ranges.end(), [&](const PositionRange& r) {
    return r.from <= position && position <= r.to;
  });
  if (at == ranges.end()) return false;
  const PositionRange whole = *at;
  if (whole.from == whole.to) {
    ranges.erase(at);
  } else if (position == whole.from) {
    ++at->from;
  } else if (position == whole.to) {
    --at->to;
  } else {
    at->to = position - 1;
    ranges.insert(at + 1, PositionRange{position + 1, whole.to});
  }
  return true;
}

}  // namespace holdfast::protocol
