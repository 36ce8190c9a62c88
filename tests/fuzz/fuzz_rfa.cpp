// Red Faction clips: read, check, play, export, write, read again.
#include "whole_path.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dopesheet;
  const ByteView in(reinterpret_cast<const std::byte*>(data), size);
  const auto file = rfa::read(in);
  if (!file) {
    promise(file.error().offset <= size && !file.error().text.empty(), "errors say where and what");
    return 0;
  }
  promise(*rfa::write(*file) == Bytes(in.begin(), in.end()), "an untouched file comes back");
  promise(*rfa::write(*rfa::from_json(rfa::to_json(*file))) == *rfa::write(*file),
          "also through JSON");
  promise(!rfa::dump(*file).empty(), "it can be shown");
  rfa::check(*file, nullptr, "fuzz.rfa");
  const Clip clip = rfa::to_clip(*file);
  rfa::File back = *file;
  const auto losses = rfa::from_clip(clip, back);
  promise(losses && losses->empty(), "an untouched clip is written back");
  promise(*rfa::write(back) == *rfa::write(*file), "without a change");
  std::vector<Transform> pose(file->bones.size());
  for (const std::int32_t tick : {file->start_time, file->end_time, 0})
    rfa::sample_exact(*file, tick, pose);
  play_and_export(clip, nullptr);
  rfa::layout(back);
  const auto canonical = rfa::write(back);
  promise(canonical && rfa::read(*canonical), "a laid out file reads");
  return 0;
}
