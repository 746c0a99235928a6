// The page in a real browser: it opens, filters, and answers clicks and keys, without an error and without
// loading anything. Where no Chromium is installed there is nothing to test with, and the test says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "pictures/space_time.hpp"
#include "tests/pictures/picture_source.hpp"

namespace holdfast::pictures {
namespace {

using explain::OverlapRun;

/// What a shell line prints; nothing if it fails.
std::optional<std::string> outputOf(const std::string& line) {
  std::FILE* const pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string out;
  std::array<char, 1 << 16> buffer{};
  for (std::size_t got = 1; got > 0; out.append(buffer.data(), got)) {
    got = std::fread(buffer.data(), 1, buffer.size(), pipe);
  }
  return ::pclose(pipe) == 0 ? std::optional(out) : std::nullopt;
}

bool hasBrowser() { return outputOf("command -v chromium").has_value(); }

/// What the script `probe` leaves in `result` once it ran in the page of `scene`.
nlohmann::json inBrowser(const Scene& scene, const std::string& probe) {
  std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-page-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return {};
  const std::filesystem::path folder = pattern;
  std::string html = page(scene);
  const std::string script =
      "<script>const result = {};\n" + probe +
      "\nconst out = document.createElement('pre'); out.id = 'result';\n"
      "out.textContent = encodeURIComponent(JSON.stringify(result)); document.body.append(out);</script>\n";
  html.insert(html.rfind("</body>"), script);
  std::ofstream(folder / "page.html", std::ios::binary) << html;
  const auto dom = outputOf(
      "timeout 90 chromium --headless --no-sandbox --disable-gpu --disable-background-networking "
      "--no-first-run "
      "--disable-component-update --disable-sync --disable-dev-shm-usage --virtual-time-budget=3000 "
      "--user-data-dir=" +
      (folder / "profile").string() + " --dump-dom file://" + (folder / "page.html").string() +
      " 2>/dev/null");
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (!dom) return {};
  const std::string start = "<pre id=\"result\">";
  const std::size_t at = dom->find(start);
  if (at == std::string::npos) return {};
  std::string encoded = dom->substr(at + start.size(), dom->find("</pre>", at) - at - start.size());
  std::string text;
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i] == '%' && i + 2 < encoded.size()) {
      text += static_cast<char>(std::stoi(encoded.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      text += encoded[i];
    }
  }
  return nlohmann::json::parse(text);
}

TEST(Page, FiltersAndAnswersClicksAndKeys) {
  if (!hasBrowser()) GTEST_SKIP() << "no chromium in the path; apt-get install chromium";
  const OverlapRun r;
  const PictureSource p(r.run, &r.incident);
  const Scene scene = sceneOf(p.source, {});
  const nlohmann::json seen = inBrowser(scene, R"js(
    const visible = () => rows.filter((g) => !g.classList.contains('hidden')).length;
    const tick = (box) => { box.checked = !box.checked; box.dispatchEvent(new Event('change')); };
    const key = (k) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key: k, bubbles: true}));
    const kind = (name) => document.querySelector(`input[name=kind][value=${name}]`);
    result.first = visible();
    result.pickedFirst = picked;
    result.detail = byId('detail').textContent;
    tick(kind('authority'));
    result.withoutAuthority = visible();
    const left = () => rows.filter((g) => !g.classList.contains('hidden'));
    const stands = left().map((g) => g.getAttribute('transform'));
    result.closed = stands.every((t, i) => t === `translate(0,${i * height})`);
    tick(kind('authority'));
    tick(kind('message'));
    result.arrowsWithoutMessages = arrows.filter((g) => !g.classList.contains('hidden')).length;
    tick(kind('message'));
    result.arrows = arrows.filter((g) => !g.classList.contains('hidden')).length;
    byId('find').value = 'asked bob';
    byId('find').dispatchEvent(new Event('input'));
    result.found = rows.filter((g) => !g.classList.contains('hidden')).map((g) => +g.dataset.r);
    byId('find').value = '';
    byId('find').dispatchEvent(new Event('input'));
    rows[0].dispatchEvent(new MouseEvent('click', {bubbles: true}));
    result.pickedByClick = picked;
    key('ArrowDown');
    result.pickedByKey = picked;
    key('v');
    result.pickedIncident = picked;
    key('s');
    result.slice = visible();
    tick(document.querySelector('input[name=node][value=A]'));
    result.sliceWithoutA = left().filter((g) => data.events[g.dataset.r].node === 'A').length;
    result.requests = performance.getEntriesByType('resource').length;
  )js");
  ASSERT_TRUE(seen.is_object() && !seen.empty()) << "the page's script did not come to its end";
  EXPECT_EQ(seen["first"], r.run.size());
  EXPECT_EQ(seen["pickedFirst"], r.overlap);
  EXPECT_THAT(seen["detail"].get<std::string>(), testing::HasSubstr("A: call 1 inside on alice"));
  EXPECT_EQ(seen["withoutAuthority"], r.run.size() - 4);
  EXPECT_EQ(seen["closed"], true);
  EXPECT_EQ(seen["arrowsWithoutMessages"], 0);
  EXPECT_EQ(seen["arrows"], 5);
  EXPECT_EQ(seen["found"], nlohmann::json({r.noise, r.overlap})) << "the violation always stays";
  EXPECT_EQ(seen["pickedByClick"], 0);
  EXPECT_EQ(seen["pickedByKey"], 1);
  EXPECT_EQ(seen["pickedIncident"], r.overlap);
  EXPECT_EQ(seen["slice"], p.slice.events.size());
  EXPECT_EQ(seen["sliceWithoutA"], 0);
  EXPECT_EQ(seen["requests"], 0);
}

TEST(Page, HoldsFiveThousandEventsAndWickedNames) {
  if (!hasBrowser()) GTEST_SKIP() << "no chromium in the path; apt-get install chromium";
  explain::RunBuilder b;
  for (std::int64_t i = 0; i < 1'000; ++i) {
    const auto id = static_cast<std::uint64_t>(i + 1);
    const obs::CallId call{static_cast<std::uint32_t>(id)};
    b.add(5 * i, explain::kA, obs::LockRequested{call, explain::kAlice, {}, {}});
    b.send(5 * i, explain::kA, explain::kB, id);
    b.deliver(5 * i + 2, explain::kB, explain::kA, id);
    b.add(5 * i + 3, explain::kA,
          obs::Admitted{call, explain::kAlice, {1, 1, id}, obs::Path::cached, false, {1}});
    b.add(5 * i + 4, explain::kA, obs::Unlocked{call, explain::kAlice});
  }
  const PictureSource p(b.run, nullptr, {{"A</script>", "B\"'<!--"}, {"k</pre>"}});
  const nlohmann::json seen = inBrowser(sceneOf(p.source, {}), R"js(
    result.rows = rows.length;
    result.count = byId('count').textContent;
    byId('find').value = 'asked';
    byId('find').dispatchEvent(new Event('input'));
    result.asked = byId('count').textContent;
    result.node = data.events[0].node;
  )js");
  ASSERT_TRUE(seen.is_object() && !seen.empty());
  EXPECT_EQ(seen["rows"], 5'000);
  EXPECT_EQ(seen["count"], "5000 of 5000 events shown");
  EXPECT_EQ(seen["asked"], "1000 of 5000 events shown");
  EXPECT_EQ(seen["node"], "A</script>");
}

}  // namespace
}  // namespace holdfast::pictures
