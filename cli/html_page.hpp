// The head of a page that is one file: everything inline, so that it opens without a network and can be kept.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

/// From the doctype to the opening of the body. `title` needs no escaping.
inline std::string pageHead(std::string_view title) {
  std::string head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>)";
  head += title;
  head += R"(</title><style>
body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem;border-bottom:1px solid #ccc}
table{border-collapse:collapse}td,th{padding:.15rem .8rem .15rem 0;text-align:left;vertical-align:top}
td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
code,pre{font-size:.85rem;white-space:pre-wrap}
.bad{color:#b00020;font-weight:600}.good{color:#1b6e3c;font-weight:600}.dim{color:#777}
svg{display:block;margin:.5rem 0}svg text{font-size:12px;fill:#333}.bar{fill:#4878a8}.axis{stroke:#999}
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}svg text{fill:#ccc}.dim{color:#999}
.bad{color:#ff7b86}.good{color:#6fcf97}}
</style></head><body>
)";
  return head;
}

}  // namespace holdfast::cli
